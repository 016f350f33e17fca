// Asks for confirmation, and shows the result of an action.

import { html, nothing, render } from './lib/lit-html.js';

const dialog = () => document.getElementById('dialog');

// The question in the dialog; null while it is closed.
let current = null;

/** Shows a result; screen readers announce it without moving the focus. */
export function show(text) {
  const place = document.getElementById('result');
  place.textContent = text;
  place.classList.toggle('there', text !== '');
  clearTimeout(show.timer);
  show.timer = setTimeout(() => place.classList.remove('there'), 10_000);
}

/** Hides the progress of a count that is not wanted any more, but no result. */
export function hideCount() {
  if (document.getElementById('result').textContent.startsWith('Counting')) {
    show('');
  }
}

/** Ends the question of a closed dialog. Its event may come after the next question was asked. */
function end() {
  const ended = current;
  current = null;
  if (ended) {
    ended.stopped = true;
    render(nothing, dialog());
    (ended.opener?.isConnected ? ended.opener : document.querySelector('h1'))?.focus();
  }
}

/**
 * Asks for confirmation, then runs the action. The dialog stays open and shows a failure; if the user has closed it, its result
 * or failure is shown beside the page. Does nothing while another question is open.
 * question: { title, text, fields, confirm, danger, also, act(form, progress, leave) -> text of the result }, where also is
 * { text, name, value } of a second button, which confirms with another value of a field, and leave(address) opens another
 * view, unless the user has done so meanwhile.
 */
export function confirm(question) {
  if (dialog().open) {
    return;
  }
  end();
  const shown = { busy: false, stopped: false, opener: document.activeElement };
  const view = () => location.hash.split('?')[0];
  const asked = view();
  current = shown;
  let failure = null;
  let progress = null;

  const draw = () => current === shown && render(html`
    <form method="dialog" @submit=${submit}>
      <h2 id="dialog-title">${question.title}</h2>
      ${question.text}
      ${question.fields ?? nothing}
      ${progress ? html`<p role="status">${progress}</p>` : nothing}
      ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing}
      <div class="buttons">
        <button type="button" @click=${close}>${shown.busy ? (progress ? 'Stop' : 'Close') : 'Keep as it is'}</button>
        <button type="submit" class=${question.danger ? 'danger' : 'primary'} ?disabled=${shown.busy}>${question.confirm}</button>
        ${question.also ? html`<button type="submit" name=${question.also.name} value=${question.also.value} ?disabled=${shown.busy}>${question.also.text}</button>` : nothing}
      </div>
    </form>`, dialog());

  const close = () => dialog().close();

  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    if (event.submitter?.name) {
      form.set(event.submitter.name, event.submitter.value);
    }
    shown.busy = true;
    failure = null;
    draw();
    try {
      const result = await question.act(form, (text) => {
        progress = text;
        draw();
        return !shown.stopped;
      }, (address) => {
        if (view() === asked) {
          location.hash = address;
        }
      });
      if (current === shown) {
        close();
      }
      show(result);
      document.dispatchEvent(new CustomEvent('dashboard:refresh'));
    }
    catch (error) {
      failure = error.message;
      shown.busy = false;
      if (current === shown) {
        draw();
      }
      else {
        show(`${question.confirm}: ${error.message}`);
      }
    }
  };

  dialog().onclose = () => {
    if (!dialog().open) {
      end();
    }
  };
  draw();
  dialog().showModal();
}

/** Closes a question that was not answered, because the page that it belongs to is left. */
export function dismiss() {
  if (current && !current.busy) {
    dialog().close();
  }
}

/** Runs an action that needs no confirmation. */
export async function act(what) {
  try {
    show(await what());
    document.dispatchEvent(new CustomEvent('dashboard:refresh'));
  }
  catch (error) {
    show(`${error.rejected ? 'Nothing was changed' : 'It is not known whether anything was changed'}: ${error.message}`);
  }
}
