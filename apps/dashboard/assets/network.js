// The map on a canvas that is too narrow for it: turned on its side, so that what is written on it can be read.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  adon_network: {
    // What the server drew, for this canvas; what is null there stays as it is.
    place: (drawn) => {
      const { no_update } = window.dash_clientside;
      if (!drawn) return [no_update, no_update];
      const narrow = (document.getElementById("net-map")?.clientWidth ?? Infinity) < 500;
      const { elements, place } = drawn;
      return [
        (elements && narrow ? turned(elements) : elements) ?? no_update,
        (place && narrow ? { ...place, padding: 8 } : place) ?? no_update,
      ];
    },
  },
});
// Boxes are wide and low: turned, they want more room beside each other, and less below.
const BESIDE = 1.3;
const BELOW = 0.45;
function turned(elements) {
  const beside = {};
  elements.forEach(({ data }) => { if (data.source) (beside[[data.source, data.target].sort()] ??= []).push(data.id); });
  return elements.map((one) => {
    const { position, data } = one;
    if (position) return { ...one, position: { x: position.y * BESIDE, y: position.x * BELOW } };
    if (!data.source) return one;
    // Lines beside each other run from top to bottom now: their names stand one below the other.
    const their = beside[[data.source, data.target].sort()];
    return { ...one, data: { ...data, shift: (their.indexOf(data.id) - (their.length - 1) / 2) * 24 } };
  });
}
