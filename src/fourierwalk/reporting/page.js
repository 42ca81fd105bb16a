// Points that tell: whoever points at one, taps one, or walks over them with the arrow keys reads its text.
(() => {
  const tip = document.getElementById("tip"), reach = 24;
  for (const title of document.querySelectorAll("main .point > title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  const middle = element => {
    const box = element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  let shown = null;
  const hide = () => {
    shown?.classList.remove("pointed");
    shown = null;
    tip.hidden = true;
  };
  const show = point => {
    if (point === shown) return;
    hide();
    shown = point;
    point.classList.add("pointed");
    tip.textContent = point.dataset.tip;
    tip.hidden = false;
    const [x, y] = middle(point), box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x - box.width / 2), innerWidth - box.width - 8);
    const above = y - box.height - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 8 ? above : Math.min(y + 14, innerHeight - box.height - 8)}px`;
  };
  const nearest = (svg, x, y) => {
    let best = null, least = reach;
    for (const point of svg.querySelectorAll("[data-tip]")) {
      const [px, py] = middle(point), away = Math.hypot(px - x, py - y);
      if (away < least) [best, least] = [point, away];
    }
    return best;
  };
  const follow = event => {
    const svg = event.target.closest?.("main svg"), point = svg && nearest(svg, event.clientX, event.clientY);
    point ? show(point) : hide();
  };
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerdown", follow);
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") hide();
    const points = event.target.matches?.("figure svg") ? [...event.target.querySelectorAll("[data-tip]")] : [];
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!points.length || !by) return;
    event.preventDefault();
    show(points[(points.indexOf(shown) + by + points.length) % points.length]);
  });
  for (const svg of document.querySelectorAll("figure svg"))
    if (svg.querySelector("[data-tip]")) {
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("blur", hide);
    }
})();
