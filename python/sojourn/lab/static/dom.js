// Elements of the page.

export const byId = id => document.getElementById(id);

/** An HTML element; attributes that are functions listen to the event of their name. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a drawing. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

let ids = 0;

/** An id that nothing else on the page has. */
export const newId = () => `made-${++ids}`;

/** Shows these children and no others. */
export function show(place, ...children) {
  place.replaceChildren(...children.filter(child => child !== null));
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}
