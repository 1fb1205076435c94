
"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const make = (name, text, css) => {
    const one = document.createElement(name);
    if (text) one.textContent = text;
    if (css) one.className = css;
    return one;
  };

  // Commands: a button that copies.
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = make("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };
  for (const one of all(".command")) {
    const text = one.querySelector("code").textContent;
    const button = make("button", "copy");
    button.type = "button";
    button.setAttribute("aria-label", "copy command: " + text.slice(0, 80));
    button.addEventListener("click", async () => {
      button.textContent = (await copied(text)) ? "copied" : "select it";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    one.append(button);
  }

  // A card of the picture opens its layer and goes there.
  for (const link of all(".picture a")) {
    link.addEventListener("click", (event) => {
      const body = document.getElementById(link.getAttribute("href").slice(1));
      const layer = body && body.closest("details");
      if (!layer) return;
      event.preventDefault();
      layer.open = true;
      layer.scrollIntoView({ block: "start" });
      layer.querySelector("summary").focus({ preventScroll: true });
    });
  }

  // Paper has no click.
  let shut = [];
  addEventListener("beforeprint", () => {
    shut = all("details:not([open])");
    for (const one of shut) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of shut) one.open = false;
  });

  // Ladders: any two side by side.
  for (const ladders of all(".ladders")) {
    const home = ladders.parentElement;
    const sides = all(".ladder", home);
    if (sides.length < 3) continue;
    const pickers = make("div", "", "pickers");
    const first = all(".ladder", ladders).map((side) => sides.indexOf(side));
    const chosen = [first[0], first[1] ?? (first[0] ? 0 : 1)];
    const show = () => ladders.replaceChildren(...new Set(chosen.map((i) => sides[i])));
    chosen.forEach((_, place) => {
      const label = make("label", place ? "beside " : "compare ");
      const select = make("select");
      sides.forEach((side, i) => select.append(new Option(side.querySelector("h3").lastChild.textContent, i)));
      select.value = chosen[place];
      select.addEventListener("change", () => {
        chosen[place] = Number(select.value);
        show();
      });
      label.append(select);
      pickers.append(label);
    });
    ladders.before(pickers);
    for (const fold of all(":scope > details.fold", home)) fold.remove();
    show();
  }
})();
