// Creates elements of the page.

export const byId = id => document.getElementById(id);

/** Creates an HTML element; attributes that are functions become event listeners. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an SVG element in the same way. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

let ids = 0;

/** A unique id. */
export const newId = () => `made-${++ids}`;

/** Replaces the children of an element. */
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
