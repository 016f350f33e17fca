// Copies a text to the clipboard.

import { html } from './lib/lit-html.js';
import { ICONS } from './icons.js';
import { show } from './dialog.js';

/** Copies without the clipboard API, which browsers offer on https and localhost only. */
function copySelected(text) {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  return copied;
}

async function copy(text, what, button) {
  let copied = false;
  try {
    await navigator.clipboard.writeText(text);
    copied = true;
  }
  catch {
    copied = copySelected(text);
  }
  button.focus();
  show(copied ? `${what} is copied` : 'The browser does not permit copying');
}

/** Renders a button that copies the text exactly, invisible characters included. */
export function copying(text, what) {
  return html`<button type="button" class="copy" aria-label=${`Copy ${what}`} title=${`Copy ${what}`}
    @click=${(event) => copy(text, `The ${what}`, event.currentTarget)}>${ICONS.copy}</button>`;
}
