// Icons, drawn in the colour of the text. They repeat what a label says, so screen readers skip them.

import { html, svg } from './lib/lit-html.js';

const icon = (paths) => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${paths}</svg>`;

export const ICONS = {
  brand: icon(svg`<circle cx="8" cy="8" r="6.5"/><path d="M8 4v4l2.5 1.75"/>`),
  copy: icon(svg`<path d="M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3"/>`),
  error: icon(svg`<path d="M8 1.75 14.5 13.5h-13zM8 6v3.25M8 11.4v.1"/>`),
  warning: icon(svg`<circle cx="8" cy="8" r="6.25"/><path d="M8 4.75v4M8 11.1v.1"/>`),
  info: icon(svg`<circle cx="8" cy="8" r="6.25"/><path d="M8 7.25v4M8 4.9v.1"/>`),
  ok: icon(svg`<path d="m3 8.5 3.5 3.5L13 4.5"/>`),
};
