// Pauses a queue on every node, and resumes it.

import { html, nothing } from './lib/lit-html.js';
import { moment, named } from './format.js';
import { ask, may, now, queuePath, RequestError } from './store.js';
import { name } from './frame.js';
import { act, confirm } from './dialog.js';

const PAUSED = 'The pause applies to every node and survives restarts, until it ends or the queue is resumed. '
  + 'Messages that become due wait; handlers that run continue.';

const MORNING = 8;

/** Returns the next mornings: that of today, if it is still to come, and that of tomorrow, in the reader's time zone. */
export function mornings(millis) {
  const at = new Date(millis);
  return [0, 1].map((days) => new Date(at.getFullYear(), at.getMonth(), at.getDate() + days, MORNING)).filter((morning) => morning > at);
}

function choices() {
  const lengths = [['', 'until it is resumed'], ['300000', '5 minutes'], ['3600000', '1 hour'], ['86400000', '1 day']];
  const ends = mornings(now()).map((morning, index, all) => [morning.toISOString(), `until ${index === all.length - 1 ? 'tomorrow' : 'today'}, 08:00`]);
  return [...lengths, ...ends, ['until', 'until a time']];
}

/** Asks how long. Tomorrow morning is also a button, because it is what an operator wants at night. */
function askPause(queue) {
  const change = ({ target }) => {
    target.form.querySelector('.until').hidden = target.value !== 'until';
  };
  confirm({
    title: html`Pause queue ${name(queue)}?`,
    text: html`<p>${PAUSED}</p>`,
    fields: html`<fieldset class="options"><legend>How long</legend>${choices().map(([value, text], index) => html`<label><input type="radio" name="time" value=${value}
        ?checked=${index === 0} @change=${change}> ${text}</label>`)}</fieldset>
      <label class="until" hidden>Until <input type="datetime-local" name="until" step="1"></label>`,
    confirm: 'Pause on every node',
    also: { text: 'Pause until tomorrow, 08:00', name: 'time', value: mornings(now()).at(-1).toISOString() },
    act: async (form) => {
      const body = length(form);
      await ask('PUT', `${queuePath(queue)}/pause`, {}, body);
      return `Queue ${named(queue)} is paused on every node${body.until ? ` until ${moment(body.until)}` : ''}`;
    },
  });
}

function length(form) {
  const chosen = form.get('time');
  if (chosen === 'until') {
    if (!form.get('until')) {
      throw new RequestError(0, '', 'Enter a time.');
    }
    return { until: new Date(form.get('until')).toISOString() };
  }
  if (chosen.endsWith('Z')) {
    return { until: chosen };
  }
  return chosen ? { forMillis: Number(chosen) } : {};
}

function resume(queue) {
  act(async () => {
    const answer = await ask('DELETE', `${queuePath(queue)}/pause`);
    return answer.result === 'RESUMED' ? `Queue ${named(queue)} is resumed on every node` : `Queue ${named(queue)} was not paused`;
  });
}

/** Renders the buttons. */
export function pausing(queue, details) {
  if (!may('OPERATE')) {
    return nothing;
  }
  const scope = 'Applies to every node and survives restarts';
  return html`${details.paused ? html`<button type="button" class="primary" title=${scope} @click=${() => resume(queue)}>Resume queue</button>` : nothing}
    <button type="button" title=${scope} @click=${() => askPause(queue)}>${details.paused ? 'Change pause …' : 'Pause queue …'}</button>`;
}
