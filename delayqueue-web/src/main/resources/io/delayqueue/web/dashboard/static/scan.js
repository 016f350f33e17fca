// Walks through a queue by the beginning of ids, part by part, with progress and a way to stop.

import { ask, queuePath } from './store.js';

/**
 * Starts a walk. Each part is added to `found`, each message once, until the end, a number of findings, or stop().
 * changed() is called after each part.
 */
export function scan(queue, selection, idPrefix, most, changed) {
  const walk = { messages: new Map(), deadLetters: new Map(), examined: 0, running: true, stopped: false, complete: false, failure: null };
  walk.stop = () => {
    walk.stopped = true;
    walk.running = false;
  };
  walk.done = run(walk, queue, selection, idPrefix, most, changed);
  return walk;
}

async function run(walk, queue, selection, idPrefix, most, changed) {
  let cursor = null;
  try {
    do {
      const part = await ask('GET', `${queuePath(queue)}/scan`, { selection, idPrefix, cursor });
      if (walk.stopped) {
        return;
      }
      part.messages.forEach((message) => walk.messages.set(message.id, message));
      part.deadLetters.forEach((deadLetter) => walk.deadLetters.set(deadLetter.deadLetterId, deadLetter));
      walk.examined += part.examined;
      cursor = part.nextCursor;
      changed();
    } while (cursor && walk.messages.size + walk.deadLetters.size < most);
    walk.complete = !cursor;
  }
  catch (failure) {
    walk.failure = failure;
  }
  finally {
    walk.running = false;
    changed();
  }
}
