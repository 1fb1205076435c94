
(() => {
  const inflate = async (text) => {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  };
  const plain = (text) => new DOMParser().parseFromString(text, "text/html").documentElement.textContent;
  const seconds = (at) => (at < 0 ? "" : "+") + at.toFixed(4) + " s";

  for (const section of document.querySelectorAll(".timeline")) setUp(section);

  function setUp(section) {
    const whole = [Number(section.dataset.start), Number(section.dataset.end)];
    let [from, to] = whole;
    const shapes = Array.from(section.querySelectorAll("[data-s]"), (one) => ({
      one,
      start: Number(one.dataset.s),
      end: one.dataset.e === undefined ? null : Number(one.dataset.e),
      room: one.dataset.r === undefined ? null : Number(one.dataset.r),
      letters: one.textContent.length,
    }));
    const track = section.querySelector(".track");
    const ticks = Array.from(section.querySelectorAll(".axis text"));
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.setAttribute("role", "status");
    let draw = () => {};
    let asked = false;

    const paint = () => {
      asked = false;
      const length = to - from;
      // Read before anything is written: else the browser has to lay out twice in a frame.
      const width = track.clientWidth;
      const pixels = width / length;
      for (const { one, start, end, room, letters } of shapes) {
        const x = (100 * (start - from)) / length;
        if (room !== null) one.classList.toggle("tight", letters * 6.7 + 8 > (room - start) * pixels);
        if (one.tagName === "line") {
          one.setAttribute("x1", x + "%");
          one.setAttribute("x2", x + "%");
        } else one.setAttribute("x", (end === null ? x : Math.max(x, -1)) + "%");
        if (end !== null) {
          const left = Math.max(x, -1);
          const right = Math.min((100 * (end - from)) / length, 101);
          one.setAttribute("width", Math.max(right - left, right < left ? 0 : 0.05) + "%");
        }
      }
      ticks.forEach((one, i) => {
        const at = from + (length * i) / (ticks.length - 1);
        one.textContent = at.toFixed(length < 0.1 ? 4 : length < 10 ? 2 : 1) + " s";
      });
      draw(width);
    };
    const ask = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(paint);
    };
    const view = (a, b) => {
      const length = Math.min(Math.max(b - a, 0.001), whole[1] - whole[0]);
      from = Math.min(Math.max(a, whole[0]), whole[1] - length);
      to = from + length;
      ask();
    };
    const zoom = (factor, at = (from + to) / 2) => view(at - (at - from) * factor, at + (to - at) * factor);
    const pan = (part) => view(from + (to - from) * part, to + (to - from) * part);

    const buttons = document.createElement("div");
    buttons.className = "zoom";
    for (const [text, label, act] of [
      ["+", "zoom in", () => zoom(0.5)],
      ["−", "zoom out", () => zoom(2)],
      ["‹", "earlier", () => pan(-0.25)],
      ["›", "later", () => pan(0.25)],
      ["all", "the whole time", () => view(...whole)],
    ]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", act);
      buttons.append(button);
    }
    const tracks = section.querySelector(".tracks");
    tracks.before(buttons);
    tracks.after(hint);
    section.view = view;

    new ResizeObserver(ask).observe(tracks);
    const field = section.querySelector(".field");
    for (const area of section.querySelectorAll(".track, .field")) {
      area.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.shiftKey && !event.altKey) return;
        event.preventDefault();
        const box = area.getBoundingClientRect();
        zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, from + ((event.clientX - box.left) / box.width) * (to - from));
      }, { passive: false });
    }
    if (!field) return;
    const header = JSON.parse(section.querySelector(".held-names").textContent);
    inflate(section.querySelector(".held-columns").textContent).then((buffer) => connect(header, buffer));

    function connect(header, buffer) {
      const n = header.count;
      const steps = new Uint32Array(buffer, 0, n);
      const lengths = new Uint32Array(buffer, 4 * n, n);
      const backend = new Uint16Array(buffer, 8 * n, n);
      const outcome = new Uint8Array(buffer, 10 * n, n);
      const starts = new Float64Array(n);
      const ends = new Float64Array(n);
      for (let i = 0, at = 0; i < n; i++) {
        at += steps[i];
        starts[i] = header.origin + at * header.unit;
        ends[i] = starts[i] + lengths[i] * header.unit;
      }
      const rows = pack();
      const outcomes = header.outcomes.map(([text, css]) => ({ text: plain(text), css }));
      const order = ["fail", "warn", "open", "none", "pass"];
      const stacked = outcomes.map((_, i) => i).sort((a, b) => order.indexOf(outcomes[a].css) - order.indexOf(outcomes[b].css));
      const names = header.backends.map(plain);
      const canvas = document.createElement("canvas");
      canvas.tabIndex = 0;
      canvas.setAttribute("role", "application");
      canvas.setAttribute("aria-label", n + " connections over time: arrows move, plus and minus zoom, 0 shows all");
      field.replaceChildren(canvas);
      const pen = canvas.getContext("2d", { willReadFrequently: true });
      const HEIGHT = Math.min(90 + 40 * names.length, 320);
      let colours, ink;

      const theme = () => {
        const probe = document.createElement("span");
        field.append(probe);
        colours = outcomes.map(({ css }) => {
          probe.className = css;
          return getComputedStyle(probe).getPropertyValue("--tone").trim();
        });
        ink = getComputedStyle(document.body).color;
        probe.remove();
      };
      theme();
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); ask(); });

      // Each backend has a band; within it a connection takes the first row that is free when it begins.
      function pack() {
        const row = new Uint16Array(n);
        const free = header.backends.map(() => []);
        for (let i = 0; i < n; i++) {
          const held = free[backend[i]];
          let at = held.findIndex((end) => end <= starts[i]);
          if (at < 0) at = held.length < 400 ? held.length : i % 400;
          held[at] = ends[i];
          row[i] = at;
        }
        return { row, depth: free.map((held) => Math.max(held.length, 1)) };
      }

      // Starts are sorted; how long the longest lasts says how far back a connection in view can begin.
      let longest = 0;
      for (let i = 0; i < n; i++) longest = Math.max(longest, ends[i] - starts[i]);
      const firstAt = (time) => {
        let low = 0, high = n;
        while (low < high) {
          const middle = (low + high) >> 1;
          if (starts[middle] < time) low = middle + 1;
          else high = middle;
        }
        return low;
      };
      let bars = false, low = 0, high = 0;
      const bandOf = (i) => {
        const band = HEIGHT / names.length;
        const inner = band - 16;
        const height = Math.min(inner / rows.depth[backend[i]], 8);
        return [backend[i] * band + 14 + rows.row[i] * height, Math.max(height - (height > 3 ? 1 : 0), 0.6)];
      };

      draw = (width) => {
        const scale = devicePixelRatio || 1;
        if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(HEIGHT * scale)) {
          canvas.width = Math.round(width * scale);
          canvas.height = Math.round(HEIGHT * scale);
          canvas.style.height = HEIGHT + "px";
        }
        pen.setTransform(scale, 0, 0, scale, 0, 0);
        pen.clearRect(0, 0, width, HEIGHT);
        low = firstAt(from - longest);
        high = firstAt(to);
        const each = width / (to - from);
        let seen = 0;
        for (let i = low; i < high; i++) if (ends[i] >= from) seen++;
        bars = seen <= header.dense;
        if (bars) drawBars(each);
        else drawDensity(width, each);
        pen.fillStyle = ink;
        pen.font = "11px monospace";
        if (bars) names.forEach((name, i) => pen.fillText(name, 4, (i * HEIGHT) / names.length + 11));
        canvas.dataset.drawn = bars ? "bars" : "density";
        canvas.dataset.seen = seen;
      };

      function drawBars(each) {
        for (const kind of stacked.slice().reverse()) {
          pen.fillStyle = colours[kind];
          pen.globalAlpha = outcomes[kind].css === "pass" ? 0.65 : 1;
          for (let i = low; i < high; i++) {
            if (outcome[i] !== kind || ends[i] < from) continue;
            const [y, height] = bandOf(i);
            pen.fillRect((starts[i] - from) * each, y, Math.max((ends[i] - starts[i]) * each, 1), height);
          }
        }
        pen.globalAlpha = 1;
      }

      function drawDensity(width, each) {
        const columns = Math.max(1, Math.floor(width));
        const counts = outcomes.map(() => new Int32Array(columns + 1));
        for (let i = low; i < high; i++) {
          if (ends[i] < from) continue;
          const first = Math.max(0, Math.floor((starts[i] - from) * each));
          const last = Math.min(columns - 1, Math.floor((ends[i] - from) * each));
          if (first >= columns) continue;
          const row = counts[outcome[i]];
          row[first]++;
          row[last + 1]--;
        }
        const total = new Int32Array(columns);
        for (const row of counts) {
          for (let x = 1; x < columns; x++) row[x] += row[x - 1];
          for (let x = 0; x < columns; x++) total[x] += row[x];
        }
        let most = 1;
        for (const count of total) if (count > most) most = count;
        const below = new Float64Array(columns);
        const unit = (HEIGHT - 16) / most;
        // What failed stands on the ground line, at least two pixels high.
        for (const kind of stacked) {
          const row = counts[kind];
          const least = outcomes[kind].css === "pass" ? 0 : 2;
          pen.fillStyle = colours[kind];
          pen.globalAlpha = least ? 1 : 0.55;
          for (let x = 0; x < columns; x++) {
            if (!row[x]) continue;
            const height = Math.max(row[x] * unit, least);
            pen.fillRect(x, HEIGHT - below[x] - height, 1, height);
            below[x] += height;
          }
        }
        pen.globalAlpha = 1;
        pen.fillStyle = ink;
        pen.font = "11px monospace";
        pen.fillText("at most " + most + " at once", 4, 11);
      }

      const find = (x, y) => {
        const at = from + (x / field.clientWidth) * (to - from);
        const slack = (2 / field.clientWidth) * (to - from);
        for (let i = high - 1; i >= low; i--) {
          if (ends[i] + slack < at || starts[i] - slack > at) continue;
          const [top, height] = bandOf(i);
          if (y >= top - 1 && y <= top + height + 1) return i;
        }
        return -1;
      };
      const tell = (event) => {
        const box = canvas.getBoundingClientRect();
        const x = event.clientX - box.left;
        const at = from + (x / box.width) * (to - from);
        const i = bars ? find(x, event.clientY - box.top) : -1;
        hint.textContent = i < 0
          ? "at " + seconds(at) + (bars ? "" : ": too many to tell apart, zoom in")
          : names[backend[i]] + ": " + outcomes[outcome[i]].text + ", from " + seconds(starts[i]) + " to " + seconds(ends[i]) +
            " (" + (ends[i] - starts[i]).toFixed(4) + " s)";
      };
      let held = null;
      canvas.addEventListener("pointerdown", (event) => {
        held = [event.clientX, from, to];
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        if (!held) return tell(event);
        const moved = ((event.clientX - held[0]) / field.clientWidth) * (held[2] - held[1]);
        view(held[1] - moved, held[2] - moved);
      });
      for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (held = null));
      canvas.addEventListener("keydown", (event) => {
        const act = {
          ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
          "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), 0: () => view(...whole),
        }[event.key];
        if (!act) return;
        event.preventDefault();
        act();
      });
      section.dataset.ready = "yes";
      ask();
    }
  }
})();
