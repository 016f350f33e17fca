package io.delayqueue.web;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.logging.Level;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Drives Chromium, if it is installed. {@code -Ddq.browser=required} fails without it,
 * {@code off} does not use it, {@code auto} skips with the reason.
 */
public final class Browser implements AutoCloseable {

    private static final String LOAD = """
            const load = (name) => import(new URL(name, document.querySelector('script[type=module]').src));
            """;

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    public static Browser open() {
        String wanted = System.getProperty("dq.browser", "auto");
        Path chromium = onPath("chromium", "chromium-browser", "google-chrome");
        Path chromedriver = onPath("chromedriver");
        boolean there = chromium != null && chromedriver != null;
        if (!there && wanted.equals("required")) {
            throw new IllegalStateException("No Chromium and chromedriver on the PATH, and -Ddq.browser is 'required'");
        }
        if (wanted.equals("off") || !there) {
            String reason = there ? "-Ddq.browser is 'off'"
                    : "No Chromium and chromedriver on the PATH: apt-get install chromium chromium-driver";
            System.out.println("Tests with a browser are skipped: " + reason);
            Assumptions.abort(reason);
        }
        return new Browser(start(Objects.requireNonNull(chromium), Objects.requireNonNull(chromedriver)));
    }

    private static ChromeDriver start(Path chromium, Path chromedriver) {
        try {
            Path profile = Files.createTempDirectory("dashboard-browser");
            ChromeOptions options = new ChromeOptions();
            options.setBinary(chromium.toString());
            options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                    "--disable-background-networking", "--disable-component-update", "--disable-sync",
                    "--disable-dev-shm-usage", "--force-device-scale-factor=1", "--lang=en-GB",
                    "--user-data-dir=" + profile);
            LoggingPreferences logs = new LoggingPreferences();
            logs.enable(LogType.BROWSER, Level.ALL);
            options.setCapability("goog:loggingPrefs", logs);
            ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(new File(chromedriver.toString()))
                .build();
            return new ChromeDriver(service, options);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Path onPath(String... names) {
        List<Path> folders = Stream.of(System.getenv("PATH").split(File.pathSeparator)).map(Path::of).toList();
        return Arrays.stream(names)
            .flatMap((name) -> folders.stream().map((folder) -> folder.resolve(name)))
            .filter(Files::isExecutable)
            .findFirst()
            .orElse(null);
    }

    public ChromeDriver driver() {
        return this.driver;
    }

    public void size(int width, int height) {
        this.driver.manage().window().setSize(new Dimension(width, height));
    }

    public void scheme(String scheme) {
        this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /** Logs in with HTTP Basic, and opens the page. */
    public void visit(int port, String user, String path) {
        this.driver.get("http://%s:secret@127.0.0.1:%d%s".formatted(user, port, path));
        this.driver.get("http://127.0.0.1:%d%s".formatted(port, path));
    }

    /** Waits until the page shows the text. */
    public void awaitText(String text) {
        await().atMost(LIMIT).untilAsserted(() -> assertThat(text()).contains(text));
    }

    public String text() {
        return this.driver.findElement(By.tagName("body")).getText();
    }

    /** Clicks the element with this text or label; the page may redraw meanwhile. */
    public void click(String css, String label) {
        await().conditionEvaluationListener((condition) -> {
            if (!condition.isSatisfied() && condition.getRemainingTimeInMS() < 200) {
                throw new AssertionError("No '" + label + "' in: " + text() + complaints());
            }
        }).atMost(LIMIT).ignoreException(StaleElementReferenceException.class).until(() -> {
            for (WebElement element : this.driver.findElements(By.cssSelector(css))) {
                if (element.isDisplayed() && element.isEnabled() && label.equals(name(element))) {
                    element.click();
                    return true;
                }
            }
            return false;
        });
    }

    /** Counts clicks from now on, until a page is loaded. */
    public void countClicks() {
        run("window.clicks = 0; addEventListener('pointerdown', () => window.clicks++, true)");
    }

    /** Returns the number of clicks since {@link #countClicks}. */
    public long clicks() {
        return (Long) run("return window.clicks");
    }

    private static String name(WebElement element) {
        String label = element.getDomAttribute("aria-label");
        return (label != null) ? label : element.getText().strip();
    }

    public WebElement find(String css) {
        return await().atMost(LIMIT)
            .ignoreExceptions()
            .until(() -> this.driver.findElement(By.cssSelector(css)), Objects::nonNull);
    }

    /** Types into the focused element; the page may redraw it meanwhile. */
    public void type(CharSequence... keys) {
        await().pollDelay(Duration.ZERO)
            .atMost(LIMIT)
            .ignoreException(StaleElementReferenceException.class)
            .until(() -> {
                this.driver.switchTo().activeElement().sendKeys(keys);
                return true;
            });
    }

    /** Presses Tab until the element with this label has the focus. */
    public void tabTo(String label) {
        for (int i = 0; i < 40 && !label.equals(focused()); i++) {
            type(Keys.TAB);
        }
        assertThat(focused()).isEqualTo(label);
    }

    /** Returns the label of the focused element. */
    public Object focused() {
        return run("""
                const at = document.activeElement;
                return at.getAttribute('aria-label') ?? (at.labels?.[0] ?? at).textContent.trim();""");
    }

    /** Runs a script, in which {@code load('./name.js')} imports a module of the page. */
    public Object run(String script, Object... arguments) {
        return this.driver.executeScript(LOAD + script, arguments);
    }

    /**
     * Holds the requests for whose {@code url} an expression is true, until
     * {@link #resumeRequests}.
     */
    public void holdRequests(String expression) {
        run("""
                const plain = window.fetch;
                const resumed = new Promise((resolve) => { window.resume = resolve; });
                window.fetch = async (address, how) => {
                  const url = new URL(address);
                  if (%s) {
                    window.held = true;
                    await resumed;
                  }
                  return plain(address, how);
                };""".formatted(expression));
    }

    /** Waits until a request is held. */
    public void awaitHeldRequest() {
        await().until(() -> Boolean.TRUE.equals(run("return window.held")));
    }

    public void resumeRequests() {
        run("window.resume()");
    }

    /** Returns the browser's complaints, for instance of a blocked script. */
    public List<String> complaints() {
        return this.driver.manage().logs().get(LogType.BROWSER).getAll().stream().map(Object::toString).toList();
    }

    /** Returns the accessibility violations of the page. */
    public Object violations() {
        // Injected by the driver, to which the page's content policy does not apply.
        this.driver.executeScript(axe());
        return this.driver.executeAsyncScript("""
                const done = arguments[arguments.length - 1];
                axe.run(document, { resultTypes: ['violations'] }).then((result) => done(result.violations.map((one) =>
                  one.id + ': ' + one.nodes.map((node) => node.html + ' ' + node.failureSummary).join(' | '))));""");
    }

    private static String axe() {
        try (var file = Browser.class.getResourceAsStream("/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js")) {
            return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    void screenshot(Path file) {
        try {
            Files.createDirectories(file.getParent());
            Files.copy(new ByteArrayInputStream(this.driver.getScreenshotAs(OutputType.BYTES)), file,
                    StandardCopyOption.REPLACE_EXISTING);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        this.driver.quit();
    }

}
