#!/usr/bin/env bash
# Tries the README's two commands on a bare Debian, as a newcomer has it: clean_room.sh [serve|test|both] [user|root|both]
#
# The room is a folder with python3, make and nothing else that a tree of the last commit could lean on; apt and pip are set up
# there as they are on this machine. It needs root, or a user who may make namespaces with users of their own (subuid).
set -euo pipefail

what=${1:-both}
who=${2:-both}
project=$(cd "$(dirname "$0")/.." && pwd)
logs=$project/build/clean-room

refuse() {
    echo "clean-room: cannot run here: $1" >&2
    exit 1
}

[[ $what =~ ^(serve|test|both)$ && $who =~ ^(user|root|both)$ ]] || refuse "usage: clean_room.sh [serve|test|both] [user|root|both]"
command -v apt-config > /dev/null || refuse "this is not a Debian or an Ubuntu"
command -v unshare > /dev/null || refuse "there is no unshare (apt-get install util-linux)"
if ! command -v mmdebstrap > /dev/null; then
    [ "$(id -u)" -eq 0 ] || refuse "there is no mmdebstrap (sudo apt-get install mmdebstrap)"
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends mmdebstrap > /dev/null; } || refuse "mmdebstrap could not be installed"
fi
if (exec 3<> /dev/tcp/127.0.0.1/8484) 2> /dev/null; then refuse "port 8484 is taken, and \`make serve\` needs it"; fi
if [ "$(id -u)" -ne 0 ]; then
    unshare --map-root-user --map-auto --mount --pid --fork true 2> /dev/null ||
        refuse "it takes root, or newuidmap (apt-get install uidmap), a range of users in /etc/subuid and the right to make namespaces"
    # With the users of /etc/subuid, its owner is root in there.
    exec unshare --map-root-user --map-auto "$0" "$what" "$who"
fi

rooms=$(mktemp -d "${TMPDIR:-/var/tmp}/kurabito-clean-room.XXXXXX")
running=
leave() {
    # The room's processes and mounts end with the program that holds its namespaces.
    [ -z "$running" ] || { kill -KILL "$running" && wait "$running"; } 2> /dev/null || true
    rm -rf "$rooms"
}
trap leave EXIT
trap 'exit 130' INT TERM
mkdir -p "$logs"

# Environment variables that lead to packages, and the files and folders that they and pip's settings name. The packages of an
# index that is a folder lie beside its pages, which are in "simple".
leading=$(compgen -e | grep -E '^(PIP_.*|(http|https|no)_proxy|(HTTP|HTTPS|NO)_PROXY|SSL_CERT_FILE|SSL_CERT_DIR)$' || true)
named_places() {
    {
        for name in $leading; do printf '%s\n' "${!name}"; done
        cat /etc/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf" 2> /dev/null || true
        apt-config dump Acquire
    } | grep -oE '/[A-Za-z0-9_./-]+' | sed 's#/\+$##; s#/simple$##' | sort -u |
        while read -r place; do case $place in /etc/* | /usr/* | /dev/* | /proc/* | /var/lib/*) ;; *) [ ! -e "$place" ] || echo "$place" ;; esac; done
}

build_room() { # ROOM
    local room=$1 release sources=()
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ ! -s "$file" ] || sources+=("$file")
    done
    # How packages are fetched on this machine: proxies, certificates, dates.
    apt-config dump Acquire | grep -vE 'IndexTargets|"";$' > "$rooms/apt.conf"
    unshare --mount --pid --fork --mount-proc --kill-child mmdebstrap --quiet --mode=root --variant=minbase --include=python3,make,ca-certificates,sudo --aptopt="$rooms/apt.conf" \
        "$release" "$room" "${sources[@]}"
    cp "$rooms/apt.conf" "$room/etc/apt/apt.conf.d/99machine"
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
        [ ! -e "$file" ] || cp -L "$file" "$room$file"
    done
    chroot "$room" useradd --create-home --shell /bin/bash newcomer
    echo 'newcomer ALL=(ALL) NOPASSWD: ALL' > "$room/etc/sudoers.d/newcomer"
    for home in /root /home/newcomer; do
        for file in .config/pip/pip.conf .pip/pip.conf; do
            if [ -e "$HOME/$file" ]; then mkdir -p "$room$home/$(dirname $file)" && cp "$HOME/$file" "$room$home/$file"; fi
        done
        git clone --quiet --no-local "$project" "$room$home/kurabito"
    done
    chroot "$room" chown -R newcomer: /home/newcomer
    for place in $(named_places); do
        if [ -d "$place" ]; then mkdir -p "$room$place"; else mkdir -p "$room$(dirname "$place")" && touch "$room$place"; fi
    done
}

# Runs a command in the room. Mounts and processes of the room end with it.
in_room() { # ROOM USER SCRIPT
    local room=$1 user=$2 script=$3 name given=()
    for name in $leading; do given+=("$name=${!name}"); done
    for name in SSL_CERT_FILE PIP_CERT; do [[ $leading != *$name* ]] || given+=("$name=/etc/ssl/certs/ca-certificates.crt"); done
    # shellcheck disable=SC2016
    PLACES=$(named_places) ROOM=$room exec unshare --mount --pid --fork --kill-child /bin/bash -euc '
        mount -t proc proc "$ROOM/proc"
        mount --rbind /sys "$ROOM/sys"
        mount --rbind /dev "$ROOM/dev"
        for folder in tmp dev/shm; do mount -t tmpfs -o mode=1777 tmpfs "$ROOM/$folder"; done
        for place in $PLACES; do mount --rbind "$place" "$ROOM$place"; done
        exec chroot "$ROOM" "$@"
    ' in-room su "$user" --shell /bin/bash -c \
        "cd && exec env -i HOME=\$HOME USER=$user PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 ${given[*]@Q} bash -c ${script@Q}"
}

SERVE='
cd kurabito && { make serve & } && served=$!
until python3 -c "import urllib.request as u; u.urlopen(\"http://127.0.0.1:8484/health\", timeout=5)" 2> /dev/null; do
    kill -0 $served 2> /dev/null || { echo "make serve ended before it answered"; exit 1; }
    sleep 0.5
done
kill -TERM $(cat /proc/$served/task/$served/children) && wait $served'

try() { # USER NAME SCRIPT
    local user=$1 name=$2 script=$3 began=$SECONDS outcome=passed
    in_room "$rooms/$user" "$user" "$script" > "$logs/$user-$name.log" 2>&1 &
    running=$!
    wait $running || outcome=FAILED
    running=
    echo "| \`make $name\` | $user | $outcome | $((SECONDS - began)) s |"
    [ $outcome = passed ] && return
    grep -E '^(FAILED|ERROR)' "$logs/$user-$name.log" | head -n 20 || tail -n 20 "$logs/$user-$name.log"
    echo "clean-room: all that it printed is in build/clean-room/$user-$name.log" >&2
    failed=1
}

failed=0
echo "| command | as | result | took |"
echo "|---|---|---|---|"
for user in newcomer root; do
    case $user-$who in newcomer-root | root-user) continue ;; esac
    build_room "$rooms/$user" > "$logs/$user-room.log" 2>&1 || {
        tail -n 5 "$logs/$user-room.log" >&2
        refuse "no Debian could be laid out"
    }
    [ "$what" = test ] || try $user serve "$SERVE"
    [ "$what" = serve ] || try $user test "cd kurabito && make test"
    rm -rf "${rooms:?}/$user"
done
exit $failed
