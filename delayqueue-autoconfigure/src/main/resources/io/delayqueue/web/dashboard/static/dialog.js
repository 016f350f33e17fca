// Asks before something is done, and tells what came of it.

import { html, nothing, render } from './lib/lit-html.js';

const dialog = () => document.getElementById('dialog');

/** Tells what was done; screen readers say it without moving the focus. */
export function tell(text) {
  const place = document.getElementById('result');
  place.textContent = text;
  place.classList.toggle('there', text !== '');
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => place.classList.remove('there'), 10_000);
}

/**
 * Asks, and does it if it is confirmed. A failure is told in the dialog, which stays.
 * question: { title, text, fields, confirm, danger, act(form, progress) -> text of the result }
 */
export function confirm(question) {
  const opener = document.activeElement;
  let busy = false;
  let failure = null;
  let progress = null;
  let stopped = false;

  const draw = () => render(html`
    <form method="dialog" @submit=${submit}>
      <h2 id="dialog-title">${question.title}</h2>
      ${question.text}
      ${question.fields ?? nothing}
      ${progress ? html`<p role="status">${progress}</p>` : nothing}
      ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing}
      <div class="buttons">
        <button type="button" @click=${close}>${busy ? 'Stop' : 'Keep as it is'}</button>
        <button type="submit" class=${question.danger ? 'danger' : 'primary'} ?disabled=${busy}>${question.confirm}</button>
      </div>
    </form>`, dialog());

  const close = () => dialog().close();

  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    busy = true;
    failure = null;
    draw();
    try {
      const result = await question.act(form, (text) => {
        progress = text;
        draw();
        return !stopped;
      });
      dialog().close();
      tell(result);
      document.dispatchEvent(new CustomEvent('dashboard:look'));
    }
    catch (problem) {
      failure = problem.message;
      busy = false;
      draw();
    }
  };

  dialog().addEventListener('close', () => {
    stopped = true;
    render(nothing, dialog());
    (opener?.isConnected ? opener : document.querySelector('h1'))?.focus();
  }, { once: true });
  draw();
  dialog().showModal();
}

/** Does something that needs no question. */
export async function act(what) {
  try {
    tell(await what());
    document.dispatchEvent(new CustomEvent('dashboard:look'));
  }
  catch (problem) {
    tell(`Nothing was done: ${problem.message}`);
  }
}
