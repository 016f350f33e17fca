package io.delayqueue.web.autoconfigure;

import io.delayqueue.autoconfigure.RegistrationTests;

/** Repeats the checks with this module on the class path. */
class WebRegistrationTests extends RegistrationTests {

}
