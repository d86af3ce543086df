// Draws the page again every two seconds while something runs, without losing the place or the focus.
const redraw = async () => {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer || !answer.ok) return true;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = document.querySelector("main");
  const next = page.querySelector("main");
  if (main.innerHTML !== next.innerHTML) {
    const focused = document.activeElement?.getAttribute("href");
    main.innerHTML = next.innerHTML;
    if (focused) main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
  return page.querySelector("script") !== null;
};
const again = async () => { if (await redraw()) setTimeout(again, 2000); };
setTimeout(again, 2000);
