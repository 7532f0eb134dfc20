// Keeps a page live. Everything here is an addition: without it every link, form and button works too.
//
// A region marked `data-live` is brought up to date by fetching the page again and changing what differs. When to do
// that is told by the server's events, by a form marked `data-swap` that was sent, or by an element that says after how
// many seconds (`data-every`); a region that says so only while something is under way comes to rest on its own.

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
const DAY = { month: "short", day: "numeric" };
const TIME = { hour: "numeric", minute: "2-digit", second: "2-digit" };
const A_DAY = "2000-01-01".length;
const SECONDS_OF_A_DAY = 86_400;
// Beyond this, people say the date.
const LONG_AGO = 60 * SECONDS_OF_A_DAY;

// The year is said of other years only. A day is the same everywhere, so it is not moved to the reader's zone.
function dated(time, moment) {
  const isDay = time.dateTime.length === A_DAY;
  const year = isDay ? moment.getUTCFullYear() : moment.getFullYear();
  return form({ ...DAY, ...ofYear(year), ...(isDay ? { timeZone: "UTC" } : TIME) }).format(moment);
}

const ofYear = (year) => (year === new Date().getFullYear() ? {} : { year: "numeric" });

// A day near this one as people say it: tomorrow, Thursday, 3 days ago.
function namedDay(moment) {
  const now = new Date();
  const away = (moment - Date.UTC(now.getFullYear(), now.getMonth(), now.getDate())) / 1000 / SECONDS_OF_A_DAY;
  if (Math.abs(away) <= 1) return say(`time.${["yesterday", "today", "tomorrow"][away + 1]}`);
  if (away > 0 && away < 7) return form({ weekday: "long", timeZone: "UTC" }).format(moment);
  return away < 0 && away > -7 ? say("time.ago", { duration: say("time.days", { length: -away }) }) : null;
}

// To make a form takes long, and a page has hundreds of moments.
const forms = new Map();

function form(options) {
  const key = JSON.stringify(options);
  if (!forms.has(key)) forms.set(key, new Intl.DateTimeFormat(region, options));
  return forms.get(key);
}

function lasting(seconds) {
  const [unit, size] = UNITS.find(([unit, size]) => seconds >= (unit === "minutes" ? size : 2 * size)) ?? ["seconds", 1];
  return say(`time.${unit}`, { length: Math.floor(seconds / size) });
}

function tellTimes(root = document) {
  for (const time of root.querySelectorAll("time")) {
    const moment = new Date(time.dateTime);
    const local = dated(time, moment);
    setText(time, relative(time, moment) ?? local);
    if (time.title) time.title = local;
  }
}

// How far away it is, where that says more than its date.
function relative(time, moment) {
  if (time.dataset.day !== undefined) return namedDay(moment);
  if (time.dataset.relative === undefined) return null;
  const away = (moment - Date.now()) / 1000;
  if (Math.abs(away) < LONG_AGO) return say(away > 0 ? "time.in" : "time.ago", { duration: lasting(Math.abs(away)) });
  return form({ ...DAY, ...ofYear(moment.getFullYear()) }).format(moment);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Changes only what differs, so that focus, selection, scroll and open confirmations stay where they are.
function morph(old, wanted) {
  // A list that the reader made longer stays as long.
  if (old.dataset.grown !== undefined) return;
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

// How often the page was brought up to date, or changed by its reader.
let swaps = 0;

function swap(page) {
  swaps += 1;
  for (const region of document.querySelectorAll("[data-live]")) {
    const wanted = page.getElementById(region.id);
    if (wanted) morph(region, wanted);
  }
  tellTimes();
  watchThumbs();
  addUp();
}

async function load(address, options = {}) {
  const answer = await fetch(address, { headers: { Accept: "text/html" }, ...options });
  // A session that is over ends at the log-in, which is a page of its own.
  if (new URL(answer.url).pathname.endsWith("/login")) location.assign(answer.url);
  return { ok: answer.ok, url: new URL(answer.url), page: new DOMParser().parseFromString(await answer.text(), "text/html") };
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
        const before = swaps;
        const { ok, page } = await load(location.href);
        // What the reader asked for meanwhile is shown already, and newer than this.
        if (before !== swaps) stale = true;
        else if (ok) swap(page);
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
    const { ok, url, page } = await load(form.action, { method: "POST", body });
    if (ok) {
      // What was done may be in the address, so that it is said as long as the page is there.
      if (url.pathname === location.pathname) history.replaceState(null, "", url.pathname + url.search + location.hash);
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

// A form with `data-filter` shows what fits while it is filled in, and its address is one to come back to.
let filtering = 0;

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (form?.dataset.filter === undefined) return;
  clearTimeout(filtering);
  filtering = setTimeout(async () => {
    const sent = filtering;
    const chosen = [...new FormData(form)].filter(([, value]) => value);
    const address = `${form.action}?${new URLSearchParams(chosen)}`;
    try {
      const { ok, page } = await load(address);
      if (!ok || sent !== filtering) return;
      history.replaceState(null, "", address);
      for (const grown of document.querySelectorAll("[data-grown]")) delete grown.dataset.grown;
      swap(page);
    } catch {
      // It is asked for again with the next letter.
    }
  }, TRY_AFTER);
});

// A list whose next page is in `data-more` grows when its end comes near; without this its pager leads there.
const end = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && grow(), {
  rootMargin: "100%",
});
let growing = null;

function grow() {
  growing ??= (async () => {
    const more = document.querySelector("[data-more]");
    const next = more?.querySelector("[rel=next]");
    try {
      const { ok, page } = next ? await load(next.href) : {};
      const list = document.getElementById(more?.dataset.more);
      const further = ok && next.isConnected && page.getElementById(more.dataset.more);
      if (further) {
        list.dataset.grown = "";
        more.dataset.grown = "";
        list.append(...further.children);
        more.replaceChildren(...page.querySelector("[data-more]").childNodes);
        more.querySelector("[rel=first]")?.remove();
        end.unobserve(more);
        end.observe(more);
      }
    } catch {
      // The pager stays, and leads there.
    }
    growing = null;
  })();
}

function watchEnd() {
  const more = document.querySelector("[data-more]");
  if (more) end.observe(more);
}

watchEnd();

function notice(text) {
  const place = document.getElementById("notice");
  place.textContent = text;
  place.hidden = !text;
}

// A form with `data-sum` says how many of its boxes are ticked, and how much they are together.
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function sizeOf(bytes) {
  const power = bytes < 1024 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** power;
  return `${size.toFixed(power && size < 100 ? 1 : 0)} ${SIZES[power]}`;
}

function addUp() {
  countChosen();
  for (const form of document.querySelectorAll("[data-sum]")) {
    const place = form.querySelector("[data-sum-of]");
    if (!place) continue;
    const ticked = [...form.querySelectorAll("[data-bytes]:checked")];
    setText(place.querySelector("[data-count]"), String(ticked.length));
    setText(place.querySelector("[data-size]"), sizeOf(ticked.reduce((sum, box) => sum + Number(box.dataset.bytes), 0)));
    place.hidden = false;
    form.querySelector("[name=scope][value=chosen]").disabled = !ticked.length;
  }
}

// So does a form whose boxes lie outside of it.
function countChosen() {
  for (const place of document.querySelectorAll("[data-chosen]")) {
    const boxes = document.querySelectorAll(`[form="${place.dataset.chosen}"][value]:not([value="yes"]):checked`);
    setText(place, String(boxes.length));
    place.parentElement.hidden = false;
  }
  for (const button of document.querySelectorAll("[data-choose-all]")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  if (!event.target.matches("[data-choose-all]")) return;
  for (const box of event.target.form.elements) if (box.type === "checkbox") box.checked = true;
  addUp();
});

document.addEventListener("change", addUp);
// The boxes are as they were only after the event.
document.addEventListener("reset", () => setTimeout(addUp));
addUp();

// A click with Shift on a second box ticks, or clears, all between the two. While something is chosen, a poster is a box, too.
let lastBox = null;

const boxesLike = (box) => [...document.querySelectorAll(`input[type=checkbox][name="${CSS.escape(box.name)}"]`)].filter((each) => each.form === box.form);

document.addEventListener("click", (event) => {
  const cover = event.target.closest(".wall .card-cover");
  const chosen = cover && event.detail && document.querySelector(".wall .choose:checked");
  if (chosen && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    cover.parentElement.querySelector(".choose").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: event.shiftKey }));
    return;
  }
  const box = event.target;
  if (!box.matches("input[type=checkbox][value]") || !box.name) return;
  const boxes = boxesLike(box);
  const [from, to] = [boxes.indexOf(lastBox), boxes.indexOf(box)].sort((a, b) => a - b);
  if (event.shiftKey && from >= 0) {
    for (const each of boxes.slice(from, to + 1)) each.checked = box.checked;
    addUp();
  }
  lastBox = box;
});

// What was done is said to those who do not see it: what a page brings along is not read out, a change of it is.
for (const place of document.querySelectorAll("[data-notice]")) {
  const said = [...place.querySelectorAll("p")].map((each) => [each, each.textContent]);
  for (const [each] of said) each.textContent = "";
  setTimeout(() => said.forEach(([each, text]) => setText(each, text)));
}

document.addEventListener("click", (event) => {
  const dismissed = event.target.closest("[data-dismiss]");
  if (!dismissed) return;
  event.preventDefault();
  history.replaceState(null, "", dismissed.href);
  dismissed.closest("[data-notice]").remove();
  // A page that was asked for before has it still.
  swaps += 1;
  main.focus();
});

// One confirmation is open at a time, and Escape closes it.
document.addEventListener("toggle", (event) => {
  if (!event.target.matches("details.confirm[open]")) return;
  for (const other of document.querySelectorAll("details.confirm[open]")) {
    if (other !== event.target) other.open = false;
  }
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector("details.confirm[open]");
  if (!open) {
    // Nothing is open: what is chosen is let go of.
    if (event.target.matches("body, main, .choose")) document.getElementById("many")?.reset();
    return;
  }
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
    // Whatever happened while this page did not listen.
    refresh();
  };
  stream.onerror = () => {
    show("reconnecting");
    // The browser tries again on its own unless the server refused; then it is up to us.
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

// In a line of many parts the one that is shown is in sight.
const here = document.querySelector(".strip [aria-current]")?.parentElement;
if (here) here.parentElement.scrollLeft = here.offsetLeft - (here.parentElement.clientWidth - here.clientWidth) / 2;

// A link to something that is folded away unfolds it.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.matches("details") ? target : target?.querySelector(":scope > td > details.seen");
  if (folded) folded.open = true;
}

// The box at the top finds while one types: what was found stands below it, and Enter shows it as a page.
const FIND_AFTER = 120;
const find = document.querySelector("[data-find]");

function startFinding() {
  const box = find.querySelector("input");
  const place = document.getElementById("find-found");
  let asked = 0;
  const close = () => {
    place.hidden = true;
    place.replaceChildren();
  };
  box.addEventListener("input", () => {
    clearTimeout(asked);
    asked = setTimeout(async () => {
      const sent = asked;
      if (!box.value.trim()) return close();
      try {
        const { ok, page } = await load(`${find.action}?${new URLSearchParams(new FormData(find))}`);
        const found = ok && sent === asked && page.getElementById("found");
        if (!found) return;
        place.replaceChildren(found);
        place.hidden = false;
      } catch {
        // It is asked for again with the next letter.
      }
    }, FIND_AFTER);
  });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
      box.focus();
      return;
    }
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way || place.hidden) return;
    event.preventDefault();
    const stops = [box, ...place.querySelectorAll("a")];
    stops[(stops.indexOf(document.activeElement) + way + stops.length) % stops.length].focus();
  });
  find.addEventListener("focusout", ({ relatedTarget }) => {
    if (!find.contains(relatedTarget)) close();
  });
  document.addEventListener("keydown", (event) => {
    const typed = event.target.closest("input, select, textarea, [contenteditable]");
    if (event.key !== "/" || typed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
}

if (find) startFinding();
addEventListener("hashchange", unfold);
unfold();
tellTimes();
setInterval(() => document.hidden || passSecond(), 1000);
if (main.dataset.events) {
  // Browsers allow only a few connections to one server: a tab in the background gives its own back.
  document.addEventListener("visibilitychange", () => (document.hidden ? hush() : listen()));
  addEventListener("pagehide", hush);
  addEventListener("pageshow", listen);
  if (!document.hidden) listen();
}
