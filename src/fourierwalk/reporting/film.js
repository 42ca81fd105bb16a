// A walk as a film: frames of frequencies, amplitudes and fit, moved by a slider, a button and the keyboard.
(() => {
  const make = (kind, attributes = {}, parent = null, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    parent?.append(element);
    return element;
  };
  const short = value => {
    const size = Math.abs(value);
    if (size && (size < 1e-3 || size >= 1e5)) return value.toExponential(0).replace("e+", "e").replace("-", "−");
    return String(+value.toPrecision(3)).replace("-", "−");
  };
  const span = values => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const flat = lists => lists.reduce((all, list) => { for (const v of list) all.push(v); return all; }, []);

  // Each scale maps a value to [0, 1] and knows its ticks.
  const linear = (low, high) => {
    const pad = 0.05 * (high - low || 1), a = low - pad, b = high + pad;
    const raw = (b - a) / 5, unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * [1, 2, 5, 10].find(by => by * unit >= raw), ticks = [];
    for (let i = Math.ceil(a / step); i * step <= b; i++) ticks.push(+(i * step).toPrecision(12));
    return { at: value => (value - a) / (b - a), ticks };
  };
  const bent = (forward, low, high, ticks) => {
    const a = forward(low), b = forward(high), pad = 0.06 * (b - a || 1);
    return { at: value => (forward(value) - a + pad) / (b - a + 2 * pad), ticks: ticks.filter(t => t >= low && t <= high) };
  };
  const decades = [...Array(33).keys()].map(i => 10 ** (i - 16));
  const logarithmic = (least, high) => {
    const low = Math.max(least, 1e-9 * high) || 1e-12;
    const marks = high < 30 * low ? flat(decades.map(t => [t, 2 * t, 5 * t])) : decades;
    return bent(value => Math.log(Math.max(value, low)), low, high, marks);
  };
  const twoSided = (low, high) => {
    const size = Math.max(-low, high);
    if (size <= 30) return linear(low, high);
    const marks = [10, 100, 1e3, 1e4, 1e5].filter(t => t <= size);
    return bent(Math.asinh, low, high, [...marks.map(t => -t).reverse(), 0, ...marks]);
  };

  class Scene {
    constructor(holder, title, label, [xName, yName]) {
      const box = document.createElement("div");
      box.className = "scene";
      box.append(Object.assign(document.createElement("h4"), { textContent: title }));
      this.svg = make("svg", { role: "img", "aria-label": label }, box);
      holder.append(box);
      this.names = [xName, yName];
    }
    frame(x, y) {
      const { clientWidth: width, clientHeight: height } = this.svg;
      this.svg.replaceChildren();
      const left = 50, right = width - 10, top = 10, bottom = height - 38;
      this.x = value => left + x.at(value) * (right - left);
      this.y = value => bottom - y.at(value) * (bottom - top);
      let last = -99;
      for (const tick of x.ticks) {
        const at = this.x(tick), room = 7 * short(tick).length + 10;
        if (at - last < room || at > right) continue;
        make("text", { x: at, y: bottom + 16, "text-anchor": "middle", class: "tick" }, this.svg, short(tick));
        last = at;
      }
      last = 1e4;
      for (const tick of y.ticks) {
        const at = this.y(tick);
        make("line", { x1: left, x2: right, y1: at, y2: at, class: "rule" }, this.svg);
        if (last - at < 15) continue;
        make("text", { x: left - 5, y: at + 4, "text-anchor": "end", class: "tick" }, this.svg, short(tick));
        last = at;
      }
      make("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" }, this.svg);
      make("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, this.svg, this.names[0]);
      const middle = (top + bottom) / 2, turned = { x: 11, y: middle, transform: `rotate(-90 11 ${middle})` };
      make("text", { ...turned, "text-anchor": "middle" }, this.svg, this.names[1]);
    }
    dots(count, kind) {
      return [...Array(count)].map(() => make("circle", { r: 3.5, class: kind }, this.svg));
    }
    line(kind) {
      return make("path", { class: kind }, this.svg);
    }
    path(xs, ys) {
      return "M" + xs.map((x, i) => `${this.x(x).toFixed(1)} ${this.y(ys[i]).toFixed(1)}`).join("L");
    }
  }
  const put = (dot, x, y) => { dot.setAttribute("cx", x); dot.setAttribute("cy", y); };

  const cloud = (holder, film) => {
    const two = film.names.length > 1, top = span(flat(film.frames.map(f => f.amplitudes)))[1] || 1;
    const names = two ? film.names : [film.names[0], "|β|"];
    const told = `Every dot is a frequency${two ? "; large dots have large amplitudes" : " with its amplitude"}.`;
    const scene = new Scene(holder, "Frequencies", told, names), low = 1e-3 * top;
    let dots;
    return {
      layout() {
        const x = span(flat(film.frames.map(f => f.first)));
        const y = two ? twoSided(...span(flat(film.frames.map(f => f.second)))) : logarithmic(low, top);
        scene.frame(twoSided(...x), y);
        dots = scene.dots(film.frames[0].first.length, "dot");
      },
      show(frame) {
        dots.forEach((dot, k) => {
          put(dot, scene.x(frame.first[k]), scene.y(two ? frame.second[k] : Math.max(low, frame.amplitudes[k])));
          if (two) dot.setAttribute("r", 1.5 + 5 * Math.sqrt(frame.amplitudes[k] / top));
        });
      },
    };
  };

  const amplitudes = (holder, film) => {
    const told = "Amplitudes over their mean, the largest first; the dashed line is where equal ones would be.";
    const scene = new Scene(holder, "Amplitudes, largest first", told, ["share of the frequencies", "|β| / mean"]);
    const sorted = film.frames.map(frame => {
      const mean = frame.amplitudes.reduce((a, b) => a + b, 0) / frame.amplitudes.length || 1;
      return frame.amplitudes.map(a => Math.max(1e-2, a / mean)).sort((a, b) => b - a);
    });
    const high = Math.max(2, span(flat(sorted))[1]), count = sorted[0].length;
    let bars, floor;
    return {
      layout() {
        scene.frame({ at: v => v, ticks: [0, 0.25, 0.5, 0.75, 1] }, logarithmic(1e-2, high));
        floor = scene.y(0);
        const width = (scene.x(1) - scene.x(0)) / count;
        bars = sorted[0].map((_, k) => make("rect",
          { x: scene.x(k / count), width: Math.max(0.5, 0.85 * width), class: "bar" }, scene.svg));
        make("line", { x1: scene.x(0), x2: scene.x(1), y1: scene.y(1), y2: scene.y(1), class: "equal" }, scene.svg);
      },
      show(frame, i) {
        bars.forEach((bar, k) => {
          const y = scene.y(sorted[i][k]);
          bar.setAttribute("y", y);
          bar.setAttribute("height", Math.max(0, floor - y));
        });
      },
    };
  };

  const fit = (holder, film) => {
    const told = film.x ? "The target as a thin line, and the fit." : "The fit over the target, row by row.";
    const title = film.x ? "Target (thin) and fit" : "Fit over target";
    const scene = new Scene(holder, title, told, film.x ? ["x", "f(x)"] : ["target", "fit"]);
    const [low, high] = span(film.target), room = 0.15 * (high - low);
    const within = value => Math.min(high + room, Math.max(low - room, value));
    let moving;
    return {
      layout() {
        scene.frame(linear(...span(film.x ?? film.target)), linear(low - room, high + room));
        scene.line("target").setAttribute("d", film.x ? scene.path(film.x, film.target) : scene.path([low, high], [low, high]));
        moving = film.x ? scene.line("fit") : scene.dots(film.target.length, "spot");
      },
      show(frame) {
        if (film.x) moving.setAttribute("d", scene.path(film.x, frame.fit.map(within)));
        else moving.forEach((dot, n) => put(dot, scene.x(film.target[n]), scene.y(within(frame.fit[n]))));
      },
    };
  };

  const errors = (holder, film, go) => {
    const scene = new Scene(holder, "Error", `${film.error_name} over the steps.`, ["step", film.error_name]);
    const steps = film.frames.map(f => f.step), values = film.frames.map(f => f.error);
    let now;
    scene.svg.addEventListener("click", event => {
      const at = event.clientX - scene.svg.getBoundingClientRect().left;
      const away = steps.map(step => Math.abs(scene.x(step) - at));
      go(away.indexOf(Math.min(...away)));
    });
    return {
      layout() {
        const last = steps.at(-1), ticks = [0, ...decades].filter(t => t === 0 || t >= 1);
        scene.frame(bent(Math.log1p, 0, last, ticks), logarithmic(...span(values)));
        scene.line("trace").setAttribute("d", scene.path(steps, values));
        film.frames.forEach((frame, i) => {
          const dot = make("circle", { r: 2.5, class: "dot", cx: scene.x(steps[i]), cy: scene.y(values[i]) }, scene.svg);
          dot.dataset.tip = `step ${frame.step.toLocaleString("en")}: ${film.error_name} ${short(frame.error)}\n${film.about}`;
        });
        now = make("circle", { r: 6, class: "now" }, scene.svg);
      },
      show(frame) { put(now, scene.x(frame.step), scene.y(frame.error)); },
    };
  };

  const start = section => {
    const film = JSON.parse(section.querySelector("script[type='application/json']").textContent);
    const [button, slider, output] = ["button", "input", "output"].map(name => section.querySelector(name));
    const holder = section.querySelector(".scenes"), last = film.frames.length - 1;
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    let timer = null;
    const show = i => {
      const frame = film.frames[i], words = `Step ${frame.step.toLocaleString("en")} of `
        + `${film.frames[last].step.toLocaleString("en")}: ${film.error_name} ${short(frame.error)}`;
      slider.value = i;
      slider.setAttribute("aria-valuetext", words);
      output.textContent = words;
      scenes.forEach(scene => scene.show(frame, i));
    };
    const pause = () => {
      clearInterval(timer);
      timer = null;
      button.textContent = "Play";
    };
    const go = i => { pause(); show(Math.min(last, Math.max(0, i))); };
    const play = () => {
      if (+slider.value === last) show(0);
      button.textContent = "Pause";
      timer = setInterval(() => {
        show(+slider.value + 1);
        if (+slider.value === last) pause();
      }, calm.matches ? 1000 : 90);
    };
    const toggle = () => timer === null ? play() : pause();
    const scenes = [cloud(holder, film), amplitudes(holder, film), fit(holder, film), errors(holder, film, go)];
    button.addEventListener("click", toggle);
    slider.addEventListener("input", () => go(+slider.value));
    section.addEventListener("keydown", event => {
      if (event.key === " " && event.target !== button) toggle();
      else if (event.target === slider) return;
      else if (event.key === "ArrowRight") go(+slider.value + 1);
      else if (event.key === "ArrowLeft") go(+slider.value - 1);
      else if (event.key === "Home") go(0);
      else if (event.key === "End") go(last);
      else return;
      event.preventDefault();
    });
    let width = 0;
    new ResizeObserver(() => {
      if (holder.clientWidth === width) return;
      width = holder.clientWidth;
      scenes.forEach(scene => scene.layout());
      show(+slider.value);
    }).observe(holder);
    section.dataset.ready = "";
  };
  for (const section of document.querySelectorAll(".film:not([data-ready])")) start(section);
})();
