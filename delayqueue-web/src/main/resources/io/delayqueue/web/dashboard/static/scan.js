// Walks through a queue by the beginning of ids, part by part, with progress and a way to stop.

import { ask, queuePath } from './store.js';

/**
 * Starts a walk. Each part is added to `found`, each message once, until the end, a number of findings, or stop().
 * changed() is called after each part. resume() repeats the part that has failed, and goes on.
 */
export function scan(queue, selection, idPrefix, most, changed) {
  const walk = { messages: new Map(), deadLetters: new Map(), examined: 0, cursor: null, startedAt: Date.now(), endedAt: null, running: true, stopped: false, complete: false, failure: null };
  walk.stop = () => {
    walk.stopped = true;
    walk.running = false;
  };
  walk.resume = () => {
    Object.assign(walk, { running: true, failure: null });
    walk.done = run(walk, queue, selection, idPrefix, most, changed);
  };
  walk.done = run(walk, queue, selection, idPrefix, most, changed);
  return walk;
}

async function run(walk, queue, selection, idPrefix, most, changed) {
  try {
    do {
      const part = await ask('GET', `${queuePath(queue)}/scan`, { selection, idPrefix, cursor: walk.cursor });
      if (walk.stopped) {
        return;
      }
      part.messages.forEach((message) => walk.messages.set(message.id, message));
      part.deadLetters.forEach((deadLetter) => walk.deadLetters.set(deadLetter.deadLetterId, deadLetter));
      walk.examined += part.examined;
      walk.cursor = part.nextCursor;
      changed();
    } while (walk.cursor && walk.messages.size + walk.deadLetters.size < most);
    walk.complete = !walk.cursor;
  }
  catch (failure) {
    walk.failure = walk.stopped ? null : failure;
  }
  finally {
    walk.endedAt = Date.now();
    walk.running = false;
    changed();
  }
}
