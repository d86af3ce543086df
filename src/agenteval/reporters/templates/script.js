"use strict";
// What the report does beyond being read: search and filters, opening tests when they are asked for, keys, themes.
// Without it everything is there to be read all the same.
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tests = all("details.test");
  const buttons = all("button[data-is]");
  const categories = all("button[data-category]");
  const find = $("find");
  const told = document.querySelector(".shown");
  const texts = new Map();

  // The story of a test stands in <noscript>, which a browser that runs scripts keeps as one piece of text. It is
  // what the report's templates escaped, and nothing else; here it becomes elements.
  const unfold = (test) => {
    const kept = test.querySelector(":scope > noscript");
    if (!kept) return;
    kept.insertAdjacentHTML("afterend", kept.textContent);
    kept.remove();
  };

  const signs = { "&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'", "&amp;": "&" };
  const textOf = (test) => {
    if (!texts.has(test)) {
      const kept = test.querySelector(":scope > noscript");
      const story = kept
        ? kept.textContent.replace(/<[^>]*>/g, " ").replace(/&(?:lt|gt|#34|#39|amp);/g, (sign) => signs[sign])
        : test.querySelector(":scope > .body").textContent;
      const line = test.querySelector("summary").textContent;
      texts.set(test, (line + " " + story).toLowerCase().replace(/\s+/g, " "));
    }
    return texts.get(test);
  };

  const pressed = (list) => list.filter((button) => button.getAttribute("aria-pressed") === "true");
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));
  const words = (list) => new Set(list.split(" "));

  const filter = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = pressed(buttons).map((button) => button.dataset.is);
    const within = pressed(categories).map((button) => button.dataset.category);
    let shown = 0;
    for (const test of tests) {
      const is = words(test.dataset.is);
      const has = words(test.dataset.categories);
      const matches =
        (!kinds.length || kinds.some((kind) => is.has(kind))) &&
        (!within.length || within.some((category) => has.has(category))) &&
        (!wanted.length || wanted.every((word) => textOf(test).includes(word)));
      test.hidden = !matches;
      shown += matches;
    }
    for (const group of all(".group")) group.hidden = !group.querySelector(".test:not([hidden])");
    const narrowed = wanted.length + kinds.length + within.length > 0;
    told.textContent = narrowed ? `${shown} of ${tests.length} tests shown` : "";
    $("none-shown").hidden = shown > 0 || !tests.length;
  };

  let waiting;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 80);
  };

  const showAll = () => {
    find.value = "";
    for (const button of [...buttons, ...categories]) press(button, false);
    filter();
  };

  const follow = () => {
    let name;
    try {
      name = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    const of = tests.filter((each) => name === each.id || name.startsWith(each.id + "--"));
    if (!of.length) return;
    const test = of.reduce((one, other) => (other.id.length > one.id.length ? other : one)); // an id may have `--` in it
    if (test.hidden) showAll();
    unfold(test);
    test.open = true;
    const target = $(name);
    if (!target) return;
    if (target.matches("details")) target.open = true;
    target.scrollIntoView({ block: target === test ? "start" : "center" });
  };

  for (const button of buttons) {
    const count = button.querySelector("b");
    count.textContent ||= tests.filter((test) => words(test.dataset.is).has(button.dataset.is)).length;
    button.hidden = count.textContent === "0";
  }
  for (const button of [...buttons, ...categories]) {
    button.addEventListener("click", () => {
      press(button, button.getAttribute("aria-pressed") !== "true");
      filter();
    });
  }
  find.addEventListener("input", soon);
  find.form.addEventListener("submit", (event) => event.preventDefault());
  $("clear").addEventListener("click", () => {
    showAll();
    find.focus();
  });
  $("open-all").addEventListener("click", () => {
    for (const test of tests) {
      if (test.hidden) continue;
      unfold(test);
      test.open = true;
    }
  });
  $("close-all").addEventListener("click", () => {
    for (const test of tests) test.open = false;
  });

  // `toggle` comes after the test has been drawn open; a click and a key come before.
  document.addEventListener("click", (event) => {
    const line = event.target.closest("summary");
    if (line?.parentElement.matches(".test")) unfold(line.parentElement);
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.matches(".test") && event.target.open) unfold(event.target);
  }, true);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target === find) return showAll();
    const test = event.target.matches(".test > summary") && event.target.parentElement;
    if (!test) return;
    if (event.key === "/") {
      event.preventDefault();
      find.focus();
    } else if (event.key === "j" || event.key === "k") {
      const seen = tests.filter((each) => !each.hidden);
      seen[seen.indexOf(test) + (event.key === "j" ? 1 : -1)]?.querySelector("summary").focus();
    }
  });

  // The events of an assertion light up while it is pointed at or has the focus.
  const light = (on) => (event) => {
    const check = event.target.closest?.(".check");
    for (const id of check ? check.dataset.events.split(" ") : []) if (id) $(id)?.classList.toggle("lit", on);
  };
  for (const [name, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
    document.addEventListener(name, light(on));
  }

  const root = document.documentElement;
  const themes = {
    get kept() { try { return localStorage.getItem("agenteval.theme"); } catch { return null; } },
    set kept(theme) { try { localStorage.setItem("agenteval.theme", theme); } catch { /* a file may keep nothing */ } },
  };
  if (["light", "dark"].includes(themes.kept)) root.dataset.theme = themes.kept;
  $("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme ?? (dark ? "dark" : "light");
    root.dataset.theme = themes.kept = now === "dark" ? "light" : "dark";
  });

  // What is scrolled to stands below the search, which is as high as its filters need.
  const tools = find.form;
  const leaveRoom = () => {
    const over = getComputedStyle(tools).position === "sticky";
    root.style.scrollPaddingTop = over ? `${tools.offsetHeight + 8}px` : "";
  };

  tools.hidden = $("theme").hidden = false;
  leaveRoom();
  new ResizeObserver(leaveRoom).observe(tools);
  for (const test of tests) if (test.open) unfold(test);
  addEventListener("hashchange", follow);
  follow();
})();
