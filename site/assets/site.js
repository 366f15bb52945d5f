"use strict";
// Search, theme, copy buttons. Pages work without it.

const root = document.body.dataset.root;

// Theme: auto, light, dark.
{
  const icons = {
    auto: '<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentcolor"/>',
    light: '<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6l1.5 1.5M16.9 16.9l1.5 1.5M5.6 18.4l1.5-1.5M16.9 7.1l1.5-1.5"/>',
    dark: '<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z"/>',
  };
  const themes = Object.keys(icons);
  const data = document.documentElement.dataset;
  const button = document.querySelector(".theme");
  const show = () => {
    if (!themes.includes(data.theme)) data.theme = "auto";
    button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${icons[data.theme]}</svg>`;
    button.title = `Theme: ${data.theme}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    data.theme = themes[(themes.indexOf(data.theme) + 1) % themes.length];
    try {
      localStorage.setItem("theme", data.theme);
    } catch {
      // It holds for this page.
    }
    show();
  });
  show();
  button.hidden = false;
}

// Copy buttons.
for (const pre of document.querySelectorAll("pre")) {
  const box = document.createElement("div");
  box.className = "code";
  pre.replaceWith(box);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  const show = (name, path) => {
    button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${path}</svg>`;
    button.title = name;
    button.setAttribute("aria-label", name);
  };
  const idle = () => show(
    "Copy",
    '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15H4V4h11v1"/>');
  idle();
  button.addEventListener("click", async () => {
    const done = await copy(pre.textContent);
    show(done ? "Copied" : "Not copied",
         done ? '<path d="M5 12.5l4.5 4.5L19 7.5"/>' : '<path d="M6 6l12 12M18 6L6 18"/>');
    button.classList.toggle("done", done);
    setTimeout(() => {
      idle();
      button.classList.remove("done");
    }, 1500);
  });
  box.append(pre, button);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page may not write to the clipboard by itself everywhere.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

// The place in the navigation, and on this page.
{
  const nav = document.querySelector(".side");
  const here = [...nav.querySelectorAll("[aria-current]")].pop();
  if (here) {
    const middle = here.offsetTop - nav.offsetTop - nav.clientHeight / 2;
    if (middle > 0) nav.scrollTop = middle;
  }
  nav.addEventListener("click", (event) => {
    if (!event.target.closest("a")) return;
    // Back to the page, not to a page with #nav.
    if (location.hash === "#nav" && event.target.matches(".close")) {
      event.preventDefault();
      history.back();
    }
  });
  const links = [...document.querySelectorAll(".places a")];
  const heads = links.map(
    (link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const mark = () => {
    const line = 120;
    let current = -1;
    heads.forEach((head, i) => {
      if (head && head.getBoundingClientRect().top < line) current = i;
    });
    links.forEach((link, i) => link.classList.toggle("here", i === current));
  };
  if (links.length > 0) {
    addEventListener("scroll", mark, {passive: true});
    mark();
  }
}

// Search. The data is a script, which pages from files may load, too.
let data = null;
let waiting = [];

function site_data(found) {
  data = found;
  waiting.forEach((f) => f());
  waiting = [];
}

function with_data(then) {
  if (data) return then();
  waiting.push(then);
  if (waiting.length > 1) return;
  const script = document.createElement("script");
  script.src = root + "assets/search.js";
  document.head.append(script);
}

// The rank of an operator's name for a word; 0 is best, 9 no answer.
function rank_name(name, word) {
  const plain = name.replace(/^.*::/, "").replace(/^_+/, "");
  if (name === word) return 0;
  if (plain === word) return 1;
  if (plain.startsWith(word)) return 2;
  if (name.includes(word)) return 3;
  return 9;
}

function find(text) {
  const words = text.toLowerCase().replace(/^sy::/, "").split(/[\s(),.]+/)
    .filter((w) => w);
  if (words.length === 0) return [];
  const out = [];
  const first = words[0];
  for (const [name, path, family, sentence, more] of data.operators) {
    let rank = rank_name(name.toLowerCase(), first);
    if (rank > 1 && more.split(" ").includes(first)) rank = 1;
    const all = `${name} ${more} ${family} ${sentence}`.toLowerCase();
    if (words.length > 1 || rank === 9) {
      if (!words.every((w) => all.includes(w))) continue;
      rank = Math.min(rank, 6);
    }
    if (name.startsWith("_")) rank += 0.5;
    out.push({rank, name, path, sentence, kind: family, op: true});
  }
  for (const [title, path, page, text] of data.guides) {
    const head = title.toLowerCase();
    const whole = !path.includes("#");
    const all = `${head} ${page.toLowerCase()} ${text}`;
    if (!words.every((w) => all.includes(w))) continue;
    const rank = words.every((w) => head.includes(w)) ? 1.5 : whole ? 5.5 : 5;
    out.push({rank: whole ? rank - 0.1 : rank, name: title, path,
              sentence: whole ? page : `in ${page}`, kind: "guide", op: false});
  }
  return out
    .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length ||
                    a.name.localeCompare(b.name))
    .slice(0, 30);
}

// Text with the words that were searched for marked.
function marked(text, words, into) {
  const pattern = words.map((w) => w.replace(/[^\w]/g, "\\$&")).join("|");
  for (const part of text.split(new RegExp(`(${pattern})`, "i"))) {
    const hit = words.includes(part.toLowerCase());
    const node = hit ? document.createElement("mark")
                     : document.createTextNode(part);
    if (hit) node.textContent = part;
    into.append(node);
  }
}

document.querySelectorAll(".search").forEach((form, number) => {
  const input = form.querySelector("input");
  const list = document.createElement("ul");
  list.className = "results";
  list.id = `results${number}`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Results");
  list.hidden = true;
  form.append(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  let chosen = 0;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (i) => {
    const items = list.querySelectorAll("[role=option]");
    if (items.length === 0) return;
    items[chosen]?.setAttribute("aria-selected", "false");
    chosen = (i + items.length) % items.length;
    items[chosen].setAttribute("aria-selected", "true");
    items[chosen].scrollIntoView({block: "nearest"});
    input.setAttribute("aria-activedescendant", items[chosen].id);
  };
  const show = () => {
    const text = input.value.trim();
    if (text === "") return close();
    const words = text.toLowerCase().split(/[\s(),.]+/).filter((w) => w);
    const found = find(text);
    list.replaceChildren();
    found.forEach((f, i) => {
      const item = document.createElement("li");
      item.id = `${list.id}-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.className = f.op ? "op" : "guide";
      const link = document.createElement("a");
      link.href = root + f.path;
      link.tabIndex = -1;
      const name = document.createElement("b");
      marked(f.name, words, name);
      const kind = document.createElement("small");
      kind.textContent = f.kind;
      const sentence = document.createElement("p");
      marked(f.sentence, words, sentence);
      link.append(name, kind, sentence);
      item.append(link);
      item.addEventListener("pointermove", () => {
        if (chosen !== i) choose(i);
      });
      list.append(item);
    });
    if (found.length === 0) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = `Nothing is called or says “${text}”.`;
      list.append(none);
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    chosen = 0;
    choose(0);
  };

  input.addEventListener("focus", () => with_data(() => {
    if (document.activeElement === input) show();
  }));
  input.addEventListener("input", () => with_data(show));
  input.addEventListener("keydown", (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step && !list.hidden) {
      event.preventDefault();
      choose(chosen + step);
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (list.hidden) input.blur();
      close();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    with_data(() => {
      show();
      const link = list.querySelector("[aria-selected=true] a");
      if (link) location.href = link.href;
    });
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) setTimeout(close, 150);
  });
});

addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, [contenteditable]");
  const slash = event.key === "/" && !event.ctrlKey && !event.metaKey;
  const k = event.key === "k" && (event.ctrlKey || event.metaKey);
  if ((slash && !typing) || k) {
    event.preventDefault();
    const large = document.querySelector(".search.large input");
    const field = large && scrollY < 300
      ? large : document.querySelector(".top .search input");
    field.focus();
    field.select();
  }
});
