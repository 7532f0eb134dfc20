// Keeps a page live. Everything here is an addition: without it every link, form and button works too.
//
// A region marked `data-live` is brought up to date by fetching the page again and changing what differs. When to do
// that is told by the server's events, by a form marked `data-swap` that was sent, or by an element that says after how
// many seconds (`data-every`); a region that says so only while something is under way comes to rest by itself.

const main = document.querySelector("main");
const words = JSON.parse(document.body.dataset.words);
const language = document.documentElement.lang;
const REFRESH_AT_MOST_EVERY = 500;
const LONGEST_WAIT = 30_000;
const TRY_AFTER = 250;
// Whether a confirmation is open and what is ticked is the reader's doing, not the server's.
const THE_READERS = new Set(["open", "checked"]);

const say = (key, facts = {}) => words[key].replace(/\{(\w+)\}/g, (whole, name) => facts[name] ?? whole);

const UNITS = [["days", 86_400], ["hours", 3600], ["minutes", 60]];
// The reader's own region writes dates in its own way, as far as it speaks the page's language.
const region = navigator.languages.find((each) => each.split("-")[0] === language.split("-")[0]) ?? language;
const exact = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "medium" });

function lasting(seconds) {
  const [unit, size] = UNITS.find(([, size]) => seconds >= 2 * size) ?? ["seconds", 1];
  return say(`time.${unit}`, { length: Math.floor(seconds / size) });
}

function tellTimes(root = document) {
  for (const time of root.querySelectorAll("time")) {
    const moment = new Date(time.dateTime);
    const local = exact.format(moment);
    if (time.dataset.relative === undefined) {
      setText(time, local);
      continue;
    }
    const away = (moment - Date.now()) / 1000;
    setText(time, say(away > 0 ? "time.in" : "time.ago", { duration: lasting(Math.abs(away)) }));
    time.title = local;
  }
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Changes only what differs, so that focus, selection, scroll and open confirmations stay where they are.
function morph(old, wanted) {
  // The picture of the same file stays as it is.
  if (old.dataset.thumb && old.dataset.thumb === wanted.dataset.thumb) return;
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name) && !THE_READERS.has(name)) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const named = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let place = old.firstChild;
  for (const child of [...wanted.childNodes]) {
    const match = (child.id && named.get(child.id)) || (fits(place, child) ? place : null);
    if (!match) {
      old.insertBefore(child, place);
      continue;
    }
    if (match === place) place = place.nextSibling;
    else old.insertBefore(match, place);
    if (match.nodeType === Node.ELEMENT_NODE) morph(match, child);
    else if (match.data !== child.data) match.data = child.data;
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function fits(old, wanted) {
  return old && !old.id && !wanted.id && old.nodeName === wanted.nodeName;
}

function swap(page) {
  for (const region of document.querySelectorAll("[data-live]")) {
    const wanted = page.getElementById(region.id);
    if (wanted) morph(region, wanted);
  }
  tellTimes();
  watchThumbs();
}

async function load(address, options = {}) {
  const answer = await fetch(address, { headers: { Accept: "text/html" }, ...options });
  // A session that is over ends at the log-in, which is a page of its own.
  if (new URL(answer.url).pathname.endsWith("/login")) location.assign(answer.url);
  return { ok: answer.ok, page: new DOMParser().parseFromString(await answer.text(), "text/html") };
}

let refreshing = null;
let stale = false;
// What was told since a page was asked for, which the page may not know of yet.
const news = new Map();

// One at a time, and not more often than a reader can follow.
function refresh() {
  stale = true;
  refreshing ??= (async () => {
    while (stale) {
      stale = false;
      news.clear();
      try {
        const { ok, page } = await load(location.href);
        if (ok) swap(page);
        news.forEach(showProgress);
      } catch {
        // The stream notices an absent server too, says so, and asks for a refresh when it is back.
      }
      await new Promise((done) => setTimeout(done, REFRESH_AT_MOST_EVERY));
    }
    refreshing = null;
  })();
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.dataset.swap === undefined) return;
  event.preventDefault();
  const button = event.submitter;
  // Before the button is disabled: it may be one of several that say what is wanted.
  const body = new URLSearchParams(new FormData(form, button));
  if (button) button.disabled = true;
  try {
    const { ok, page } = await load(form.action, { method: "POST", body });
    if (ok) {
      form.closest("details")?.removeAttribute("open");
      notice("");
      swap(page);
    } else {
      notice(say("live.failed", { problem: page.querySelector("[data-problem]")?.textContent ?? "" }));
      refresh();
    }
  } catch {
    notice(say("live.offline"));
  } finally {
    if (button) button.disabled = false;
  }
});

// A form with `data-try` is tried there while it is filled in: what comes of it stands in a live region beside it.
let trying = 0;

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (form?.dataset.try === undefined) return;
  clearTimeout(trying);
  trying = setTimeout(async () => {
    const sent = trying;
    try {
      const { ok, page } = await load(form.dataset.try, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (ok && sent === trying) swap(page);
    } catch {
      // It is tried again with the next letter.
    }
  }, TRY_AFTER);
});

function notice(text) {
  const place = document.getElementById("notice");
  place.textContent = text;
  place.hidden = !text;
}

// One confirmation is open at a time, and Escape closes it.
document.addEventListener("toggle", (event) => {
  if (!event.target.matches("details.confirm[open]")) return;
  for (const other of document.querySelectorAll("details.confirm[open]")) {
    if (other !== event.target) other.open = false;
  }
}, true);

document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector("details.confirm[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

// Pictures of files. Those in view are asked for together, until each is drawn or cannot be.
const THUMBS_AT_ONCE = 500;
const FIRST_LOOK = 300;
const unseen = new Set();
const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? unseen.add(target) : unseen.delete(target);
  askForThumbs();
}, { rootMargin: "50%" });

function watchThumbs() {
  for (const place of document.querySelectorAll("[data-thumb]:not([data-drawn])")) sight.observe(place);
}

let asking = null;

function askForThumbs() {
  asking ??= (async () => {
    for (let pause = FIRST_LOOK; unseen.size && !document.hidden; pause = Math.min(LONGEST_WAIT, pause * 1.5)) {
      const places = [...unseen].filter((place) => place.isConnected || !unseen.delete(place)).slice(0, THUMBS_AT_ONCE);
      const answers = places.length ? await thumbsOf(places) : new Map();
      if (!answers) break;
      for (const place of places) settleThumb(place, answers.get(Number(place.dataset.thumb)));
      if (unseen.size) await new Promise((done) => setTimeout(done, pause));
    }
    asking = null;
  })();
}

async function thumbsOf(places) {
  const body = JSON.stringify({ file_ids: [...new Set(places.map((place) => Number(place.dataset.thumb)))] });
  const headers = { "Content-Type": "application/json" };
  try {
    const answer = await fetch(`${document.body.dataset.thumbs}/request`, { method: "POST", headers, body });
    return answer.ok ? new Map((await answer.json()).items.map((item) => [item.file_id, item])) : null;
  } catch {
    // They are asked for again with the next look at the page.
    return null;
  }
}

function settleThumb(place, item) {
  if (!item || ["pending", "running"].includes(item.status) || item.error?.code === "thumbnails_full") return;
  unseen.delete(place);
  sight.unobserve(place);
  place.dataset.drawn = item.status;
  if (item.status !== "ready") return;
  const picture = new Image();
  picture.alt = "";
  picture.src = `${document.body.dataset.thumbs}/${item.key}/content`;
  picture.onload = () => place.replaceChildren(picture);
}

watchThumbs();
document.addEventListener("visibilitychange", askForThumbs);

const MOVES = ["Enqueued", "Started", "Succeeded", "Failed", "RetryScheduled", "Dead", "Cancelled"];
let stream = null;
let wait = 1000;

function listen() {
  if (stream) return;
  stream = new EventSource(main.dataset.events);
  stream.onopen = () => {
    wait = 1000;
    show("on");
    // Whatever happened while nobody listened.
    refresh();
  };
  stream.onerror = () => {
    show("reconnecting");
    // The browser tries again by itself unless the server refused; then it is up to us.
    if (stream?.readyState === EventSource.CLOSED) {
      stream = null;
      setTimeout(() => document.hidden || listen(), wait);
      wait = Math.min(LONGEST_WAIT, wait * 2);
    }
  };
  stream.addEventListener("Progressed", ({ data }) => {
    const progress = JSON.parse(data);
    news.set(progress.task_id, progress);
    showProgress(progress);
  });
  for (const name of MOVES) {
    stream.addEventListener(name, ({ data }) => {
      const only = main.dataset.only;
      if (!only || JSON.parse(data).task_id === only) refresh();
    });
  }
}

// A search that is under way tells each answer; the last one ends it.
let answers = null;

function hearAnswers() {
  const place = document.querySelector("[data-answers]");
  if (!place || answers) return;
  answers = new EventSource(place.dataset.answers);
  const end = () => {
    answers?.close();
    answers = null;
  };
  answers.addEventListener("found", refresh);
  answers.addEventListener("done", () => {
    end();
    refresh();
  });
  // What was found is on the page; a search that broke off is not begun again.
  answers.onerror = end;
}

hearAnswers();

function showProgress({ task_id: id, done, total }) {
  for (const place of document.querySelectorAll(`[data-task="${CSS.escape(id)}"] .progress`)) {
    const bar = place.querySelector("progress");
    if (total) {
      bar.max = total;
      bar.value = Math.min(done, total);
    }
    const counted = total == null ? [done] : [done, total];
    setText(place.querySelector(".progress-text"), counted.map((count) => count.toLocaleString("en")).join(" / "));
  }
}

function show(state) {
  const place = document.getElementById("live");
  if (!place) return;
  place.hidden = false;
  place.dataset.stream = state;
  setText(place, say(`live.${state}`));
}

function hush() {
  stream?.close();
  stream = null;
}

let seconds = 0;

function passSecond() {
  tellTimes();
  seconds += 1;
  const every = Number(document.querySelector("[data-every]")?.dataset.every);
  if (every && seconds % every === 0) refresh();
}

// A link to something that is folded away unfolds it.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.matches("details")) target.open = true;
}

// On a narrow screen the navigation is wider than the window: the page that one is on is to be seen in it.
function showWhere() {
  const nav = document.querySelector(".nav");
  const here = nav?.querySelector("[aria-current]");
  if (here) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - (nav.clientWidth - here.clientWidth) / 2;
}

showWhere();
addEventListener("hashchange", unfold);
unfold();
tellTimes();
setInterval(() => document.hidden || passSecond(), 1000);
if (main.dataset.events) {
  // Browsers allow only a few connections to one server: a tab that nobody sees gives its own back.
  document.addEventListener("visibilitychange", () => (document.hidden ? hush() : listen()));
  addEventListener("pagehide", hush);
  addEventListener("pageshow", listen);
  if (!document.hidden) listen();
}
