// Requests the stack frames of the overdue handlers of a node, and shows them.

import { html, nothing } from './lib/lit-html.js';
import { countdown, duration, plural } from './format.js';
import { ask, askForView, may, now } from './store.js';
import { link } from './address.js';
import { name, time } from './frame.js';
import { act } from './dialog.js';
import { copying } from './copy.js';

function path(node) {
  return `nodes/${encodeURIComponent(node.id)}/stacks`;
}

/** Requests the stacks that the node took last; only for callers who may see them. */
export async function loadStacks(node) {
  return may('DIAGNOSE') ? askForView('GET', path(node)) : null;
}

function request(node) {
  act(async () => {
    await ask('POST', path(node));
    return 'The node takes the stack frames with its next report, within six seconds';
  });
}

function stack(handler) {
  const text = handler.frames.join('\n');
  return html`<section class="stack" aria-label=${`Stack of the handler of ${handler.id}`}>
    <h3><a href=${link('queues', handler.queue, 'messages', handler.id)}>${name(handler.id)}</a> <span class="soft">of ${name(handler.queue)}, running for ${duration(handler.runningForMillis)}</span> ${text ? copying(text, 'stack frames') : nothing}</h3>
    ${text ? html`<pre tabindex="0">${text}</pre>` : html`<p class="soft">The handler has returned, so no thread runs it: its future is pending, or its messages are being settled.</p>`}
  </section>`;
}

function content(node, stacks) {
  const wanted = node.wanted.stackRequest;
  if (wanted && stacks.requestedAt !== wanted.at) {
    return html`<p role="status" class="soft">Requested by ${name(wanted.by)}; the node takes them with its next report …</p>`;
  }
  if (!stacks.takenAt) {
    return html`<p class="soft">Frames name classes, methods and lines, and hold no data. They are taken of overdue handlers only, and removed after two minutes.</p>`;
  }
  return html`<p role="status" class="soft">Taken ${time(stacks.takenAt)} of ${plural(stacks.handlers.length, 'overdue handler')}.</p>
    <p class="soft">Removed ${countdown(stacks.until, now())}.</p>
    ${stacks.handlers.length === 0 ? html`<p class="empty">No handler was overdue.</p>` : stacks.handlers.map(stack)}`;
}

/** Renders the stacks, and the button that requests them. */
export function stacksSection(node, stacks) {
  return stacks === null ? nothing : html`<section aria-labelledby="stacks">
    <div class="head"><h2 id="stacks">Stack frames of overdue handlers</h2><div class="bar"><button type="button" @click=${() => request(node)}>Take stack frames</button></div></div>
    ${content(node, stacks)}</section>`;
}
