// Removes an empty queue from the list.

import { html, nothing } from './lib/lit-html.js';
import { named } from './format.js';
import { ask, may, queuePath } from './store.js';
import { name } from './frame.js';
import { confirm } from './dialog.js';

function askForget(queue) {
  confirm({
    title: html`Forget queue ${name(queue)}?`,
    text: html`<p>The queue leaves the list of queues. It holds nothing, so no message is lost. It appears again when a message is sent to it or a listener starts.</p>`,
    confirm: 'Forget the queue',
    act: async (form, progress, leave) => {
      await ask('DELETE', queuePath(queue));
      leave('#/');
      return `Queue ${named(queue)} is forgotten`;
    },
  });
}

/** Renders the button for a queue that holds nothing. */
export function forgetting(queue, details) {
  const held = details.scheduled + details.waitingInGroup + details.leased + details.dead;
  return may('OPERATE') && held === 0 && !details.paused && !details.schedules
    ? html`<div class="bar"><button type="button" @click=${() => askForget(queue)}>Forget queue …</button>
      <span class="soft">The queue is empty. This removes its name from the list.</span></div>` : nothing;
}
