"use strict";
// What the history does beyond being read: the difference of two runs, the run under the pointer, and a search.
(() => {
  const $ = (id) => document.getElementById(id);
  const WORDS = ["not run", "passed", "expected failure", "skipped", "failed", "error"];
  const runs = [...document.querySelectorAll("#runs tbody tr")].reverse();
  const nameOf = (run) => run.querySelector("code").textContent;
  const tests = [...document.querySelectorAll(".past")];
  const statesOf = (test) => {
    const numbers = test.dataset.states.split(",").map(Number);
    const states = [];
    for (let at = 0; at < numbers.length; at += 2) for (let n = 0; n < numbers[at + 1]; n++) states.push(numbers[at]);
    return states;
  };
  const all = new Map(tests.map((test) => [test, statesOf(test)]));
  const [before, after] = [$("before"), $("after")];

  const compare = () => {
    const [one, other] = [Number(before.value), Number(after.value)];
    const rows = [];
    for (const [test, states] of all) {
      if (states[one] === states[other]) continue;
      const row = document.createElement("tr");
      const link = document.createElement("a");
      link.href = "#" + test.id;
      link.textContent = test.querySelector(".name").textContent;
      row.insertCell().append(link);
      for (const place of [one, other]) row.insertCell().textContent = WORDS[states[place]];
      rows.push(row);
    }
    $("changed").replaceChildren(...rows);
    $("changed").closest(".scroll").hidden = !rows.length;
    $("found").textContent = `${rows.length} of ${tests.length} tests ended otherwise.`;
    $("command").textContent = `agenteval compare ${nameOf(runs[one])} ${nameOf(runs[other])}`;
  };

  if (runs.length > 1) {
    for (const list of [before, after]) {
      list.append(...runs.map((run, place) => new Option(`${run.cells[1].textContent}  ${nameOf(run)}`, place)).reverse());
      list.addEventListener("change", compare);
    }
    before.value = runs.length - 2;
    after.value = runs.length - 1;
    compare();
    $("difference").hidden = false;
  }

  const placeIn = (event) => {
    const box = event.target.closest(".strip").getBoundingClientRect();
    return Math.max(0, Math.min(runs.length - 1, Math.floor(((event.clientX - box.left) / box.width) * runs.length)));
  };
  document.addEventListener("mousemove", (event) => {
    if (!event.target.closest?.(".strip")) return;
    const test = event.target.closest(".past");
    const run = runs[placeIn(event)];
    const text = `${nameOf(run)}, ${run.cells[1].textContent}: ${WORDS[all.get(test)[placeIn(event)]]}`;
    event.target.closest("summary").title = text;
  });

  $("search").hidden = false;
  $("find").addEventListener("input", () => {
    const words = $("find").value.toLowerCase().split(/\s+/);
    for (const test of tests) {
      const name = test.querySelector(".name").textContent.toLowerCase();
      test.hidden = !words.every((word) => name.includes(word));
    }
  });

  const follow = () => {
    const test = $(location.hash.slice(1));
    if (!test?.matches(".past")) return;
    test.open = true;
    test.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();
})();
