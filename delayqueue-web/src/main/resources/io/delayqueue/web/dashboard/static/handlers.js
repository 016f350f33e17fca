// Shows running handlers: which node handles which message for how long.

import { html, nothing } from './lib/lit-html.js';
import { count, duration } from './format.js';
import { link } from './address.js';
import { name } from './frame.js';
import { ICONS } from './icons.js';

export function processName(node) {
  return `${node.host}:${node.pid}`;
}

export function nodeLink(node) {
  return html`<a href=${link('nodes', node.id)}>${name(processName(node))}</a>`;
}

export function overdueTag(number) {
  return html`<span class="tag error">${ICONS.warning} ${count(number)} overdue</span>`;
}

/** Returns the handlers of all nodes, each with its node, the one that runs longest first. */
export function handlersOf(nodes) {
  return nodes.flatMap((node) => node.handlers.longest.map((handler) => ({ node, handler })))
    .sort((one, other) => other.handler.runningForMillis - one.handler.runningForMillis);
}

function row({ node, handler }, ofOneNode, ofOneQueue) {
  return html`<tr>
    <th scope="row"><a href=${link('queues', handler.queue, 'messages', handler.id)}>${name(handler.id)}</a>${handler.messages > 1 ? html` <span class="soft">and ${count(handler.messages - 1)} more in its batch</span>` : nothing}</th>
    <td class=${`whole${handler.overdue ? ' late' : ''}`} data-label="Running for">${duration(handler.runningForMillis)} ${handler.overdue ? html`<span class="tag error">${ICONS.warning} overdue</span>` : nothing}</td>
    ${ofOneQueue ? nothing : html`<td data-label="Queue"><a href=${link('queues', handler.queue)}>${name(handler.queue)}</a></td>`}
    ${ofOneNode ? nothing : html`<td data-label="Node">${nodeLink(node)} <span class="soft">${name(node.application)}</span></td>`}
    <td data-label="Listener">${name(handler.listener)}</td>
    <td class="number" data-label="Attempt">${count(handler.attempt)}</td>
  </tr>`;
}

/** Renders a table of handlers. */
export function handlerTable(handlers, heading, { ofOneNode = false, ofOneQueue = false } = {}) {
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby=${heading}><table><caption class="unseen">Running handlers, the one that runs longest first</caption>
    <thead><tr>${['Message', 'Running for', ...ofOneQueue ? [] : ['Queue'], ...ofOneNode ? [] : ['Node'], 'Listener'].map((text) => html`<th scope="col">${text}</th>`)}<th scope="col" class="number">Attempt</th></tr></thead>
    <tbody>${handlers.map((one) => row(one, ofOneNode, ofOneQueue))}</tbody></table></div>`;
}

/** Renders which nodes handle messages of a queue now; nothing if none does. */
export function handlersOfQueue(queue, nodes) {
  const handlers = handlersOf(nodes ?? []).filter(({ handler }) => handler.queue === queue);
  return handlers.length === 0 ? nothing : html`<section aria-labelledby="handlers"><h2 id="handlers">Handlers that run longest</h2>
    ${handlerTable(handlers, 'handlers', { ofOneQueue: true })}</section>`;
}
