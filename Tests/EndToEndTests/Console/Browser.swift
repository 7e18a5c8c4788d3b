import Foundation
import HTTPTransport
import ProgramOutput

/// A real browser without a window, moved through WebDriver: Debian's Chromium and its driver.
///
/// Each has a profile of its own, so that two of them are two people.
final class Browser: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How large the window is.
    struct Window: Sendable {
        var width: Int
        var isDark = false

        static let desk = Window(width: 1200)
        static let tablet = Window(width: 800)
        static let phone = Window(width: 390)
    }

    private let driver: Process
    private let port: Int
    private let session: String
    private static let sender = CurlSender(
        configuration: CurlConfiguration(maximumConnections: 16, allowPlainHTTP: true))

    /// Runs a body with a browser, and ends it afterwards.
    static func run(_ window: Window = .desk, _ body: (Browser) async throws -> Void) async throws {
        let browser = try await Browser(window)
        do {
            try await browser.emulate(window)
            try await body(browser)
        } catch {
            await browser.quit()
            throw error
        }
        await browser.quit()
    }

    private init(_ window: Window) async throws {
        (driver, port) = try await Browser.startedDriver()
        do {
            session = try await Browser.session(port, window)
        } catch {
            Browser.kill(driver)
            throw error
        }
    }

    /// A driver that listens. On a busy machine one may not come up in time; another one is tried then.
    private static func startedDriver() async throws -> (Process, port: Int) {
        var failure: any Error = Failure(description: "no driver was started")
        for _ in 0..<3 {
            let driver = Process()
            driver.executableURL = try Browser.program("chromedriver")
            driver.arguments = ["--port=0"]
            let said = try ProgramOutput()
            driver.standardOutput = said.handle
            driver.standardError = FileHandle.nullDevice
            try driver.run()
            do {
                try await Polling.until("the browser's driver listens", within: .seconds(40)) { port(in: said) != nil }
                return (driver, port(in: said) ?? 0)
            } catch {
                Browser.kill(driver)
                failure = Failure(description: "\(error): \(said.text)")
            }
        }
        throw failure
    }

    private static func session(_ port: Int, _ window: Window) async throws -> String {
        // Tests may run as root and in containers without much shared memory.
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--window-size=\(window.width),1000",
        ]
        let capabilities: [String: Any] = [
            "alwaysMatch": [
                "browserName": "chrome", "goog:loggingPrefs": ["browser": "ALL"],
                "goog:chromeOptions": ["binary": try Browser.program("chromium").path, "args": arguments],
            ]
        ]
        let answer = try await Browser.send(
            port, .post, "/session", ["capabilities": capabilities])
        guard let session = (answer as? [String: Any])?["sessionId"] as? String else {
            throw Failure(description: "no session: \(answer)")
        }
        return session
    }

    private func emulate(_ window: Window) async throws {
        try await command(
            "Emulation.setDeviceMetricsOverride",
            ["width": window.width, "height": 1_000, "deviceScaleFactor": 1, "mobile": window.width < 600])
        let scheme = ["name": "prefers-color-scheme", "value": window.isDark ? "dark" : "light"]
        try await command("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    /// Ends a driver with all that it started: they are a process group of their own.
    private static func kill(_ driver: Process) {
        Foundation.kill(-driver.processIdentifier, SIGKILL)
        driver.waitUntilExit()
    }

    private func quit() async {
        _ = try? await Browser.send(port, .delete, "/session/\(session)", nil)
        Browser.kill(driver)
    }

    private static func program(_ name: String) throws -> URL {
        let path = "/usr/bin/\(name)"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure(description: "\(path) is missing: scripts/install-packages --tests installs it")
        }
        return URL(fileURLWithPath: path)
    }

    /// Where the driver listens, once it has said so.
    private static func port(in said: ProgramOutput) -> Int? {
        said.text.firstMatch(of: /started successfully on port (\d+)/).flatMap { Int($0.output.1) }
    }
}

extension Browser {
    /// Goes to a page and waits until it is loaded.
    func open(_ url: String) async throws { _ = try await post("/url", ["url": url]) }

    /// The path of the page, with its query.
    var path: String {
        get async throws {
            try await script("return location.pathname + location.search") as? String ?? ""
        }
    }

    /// The part of the page that its address points at.
    var fragment: String {
        get async throws { try await script("return location.hash") as? String ?? "" }
    }

    /// Runs no script of any page from now on; those of the test go on.
    func withoutScripts() async throws { try await command("Emulation.setScriptExecutionDisabled", ["value": true]) }

    /// What stands on the page, as it is seen.
    var text: String {
        get async throws { try await script("return document.body.innerText") as? String ?? "" }
    }

    /// What the browser complained of: scripts that failed, and what the policy forbade.
    func complaints() async throws -> [String] {
        let log = try await post("/se/log", ["type": "browser"]) as? [[String: Any]] ?? []
        return log.filter { ["SEVERE", "WARNING"].contains($0["level"] as? String) }
            .map { $0["message"] as? String ?? "" }
    }

    /// How far the page is wider than the window, in pixels.
    func overflow() async throws -> Int {
        try await script("return document.documentElement.scrollWidth - window.innerWidth") as? Int ?? 0
    }

    /// The value of a script.
    func script(_ source: String) async throws -> Any {
        try await post("/execute/sync", ["script": source, "args": [Any]()])
    }

    /// Writes into the field that a selector finds.
    func write(_ text: String, into selector: String) async throws {
        _ = try await post("/element/\(try await element(selector))/value", ["text": text])
    }

    /// Presses what a selector finds, and waits for the page that follows.
    func press(_ selector: String) async throws {
        // A click returns before the browser has left the page: the page that is left carries a mark.
        _ = try await script("window.isLeft = true")
        try await click(selector)
        try await Polling.until("the page after \(selector) is loaded", within: .seconds(30)) {
            // A script that is under way when the page goes away fails.
            let isThere = try? await script("return !window.isLeft && document.readyState === 'complete'")
            return isThere as? Bool == true
        }
    }

    /// Chooses what a selector finds: the page stays.
    func choose(_ selector: String) async throws { try await click(selector) }

    private func click(_ selector: String) async throws {
        _ = try await post("/element/\(try await element(selector))/click", [String: Any]())
    }

    /// How many elements a selector finds.
    func count(_ selector: String) async throws -> Int {
        let found = try await post("/elements", ["using": "css selector", "value": selector]) as? [Any]
        return found?.count ?? 0
    }

    /// Presses a key of the keyboard, wherever the focus is.
    func key(_ key: String) async throws {
        let actions: [[String: Any]] = [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]]
        _ = try await post("/actions", ["actions": [["type": "key", "id": "keyboard", "actions": actions]]])
    }

    /// A picture of the whole page, as PNG.
    func picture() async throws -> Data {
        let size = try await script(
            "return [window.innerWidth, Math.min(2600, document.documentElement.scrollHeight)]")
        let sides = size as? [Int] ?? [800, 800]
        let clip = ["x": 0, "y": 0, "width": sides[0], "height": sides[1], "scale": 1]
        let shot = try await command("Page.captureScreenshot", ["captureBeyondViewport": true, "clip": clip])
        guard let text = (shot as? [String: Any])?["data"] as? String, let data = Data(base64Encoded: text) else {
            throw Failure(description: "no picture")
        }
        return data
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await post("/element", ["using": "css selector", "value": selector]) as? [String: String]
        guard let id = found?.values.first else { throw Failure(description: "no \(selector) on \(try await path)") }
        return id
    }

    @discardableResult
    private func command(_ name: String, _ parameters: [String: Any]) async throws -> Any {
        try await post("/goog/cdp/execute", ["cmd": name, "params": parameters])
    }

    private func post(_ path: String, _ body: [String: Any]) async throws -> Any {
        try await Browser.send(port, .post, "/session/\(session)\(path)", body)
    }

    private static func send(
        _ port: Int, _ method: HTTPMethod, _ path: String, _ body: [String: Any]?
    ) async throws -> Any {
        let request = HTTPRequest(
            method: method, url: "http://127.0.0.1:\(port)\(path)",
            fields: HTTPFields(body == nil ? [] : [("Content-Type", "application/json")]),
            body: try body.map { Array(try JSONSerialization.data(withJSONObject: $0)) } ?? [],
            limits: TimeLimits(connect: .seconds(2), tls: .seconds(2), firstByte: .seconds(55), total: .seconds(60)),
            maximumResponseBytes: 32 << 20, label: "browser")
        let response = try await sender.send(request)
        let answer = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        let value = answer?["value"] ?? NSNull()
        if let failed = value as? [String: Any], let error = failed["error"] as? String {
            throw Failure(description: "\(path): \(error): \(failed["message"] ?? "")")
        }
        return value
    }
}
