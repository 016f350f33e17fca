// Asks for confirmation, and shows the result of an action.

import { html, nothing, render } from './lib/lit-html.js';

const dialog = () => document.getElementById('dialog');

/** Shows a result; screen readers announce it without moving the focus. */
export function show(text) {
  const place = document.getElementById('result');
  place.textContent = text;
  place.classList.toggle('there', text !== '');
  clearTimeout(show.timer);
  show.timer = setTimeout(() => place.classList.remove('there'), 10_000);
}

/**
 * Asks for confirmation, then runs the action. The dialog stays open and shows a failure.
 * question: { title, text, fields, confirm, danger, also, act(form, progress) -> text of the result }, where also is
 * { text, name, value } of a second button, which confirms with another value of a field.
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
        ${question.also ? html`<button type="submit" name=${question.also.name} value=${question.also.value} ?disabled=${busy}>${question.also.text}</button>` : nothing}
      </div>
    </form>`, dialog());

  const close = () => dialog().close();

  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    if (event.submitter?.name) {
      form.set(event.submitter.name, event.submitter.value);
    }
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
      show(result);
      document.dispatchEvent(new CustomEvent('dashboard:refresh'));
    }
    catch (error) {
      failure = error.message;
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

/** Runs an action that needs no confirmation. */
export async function act(what) {
  try {
    show(await what());
    document.dispatchEvent(new CustomEvent('dashboard:refresh'));
  }
  catch (error) {
    show(`Nothing was changed: ${error.message}`);
  }
}
