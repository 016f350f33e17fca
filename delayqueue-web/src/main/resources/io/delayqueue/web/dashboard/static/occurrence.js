// Recognises the messages that schedules have sent.

const ID = /^@(.+)@\d+(?:-triggered)?$/;

/** Returns the name of the schedule that has sent a message; null if none has. */
export function scheduleOf(id) {
  return ID.exec(id)?.[1] ?? null;
}
