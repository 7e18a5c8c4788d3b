import Foundation
import ProviderSimulator
import Testing

/// The console in a real browser, over a real daemon: what an on-call engineer does, with a second person beside.
@Suite struct ConsoleTests {
    /// After the first inquiry nothing is read for an hour, so that a version that was read is the newest.
    private static let settings: WorldSettings = {
        var settings = WorldSettings()
        settings.askOnceThenQuiet()
        settings.places = 2
        return settings
    }()

    /// Where both sides are compared as well, so that there is something on each page.
    private static let compared: WorldSettings = {
        var settings = ConsoleTests.settings
        settings.comparison = "{window: 1m, settle_delay: 1s}"
        return settings
    }()

    /// The pages of the menu.
    private static let pages = ["", "payments", "queue", "repairs", "comparisons", "drills", "site"]

    private func url(_ client: APIClient, _ page: String = "") -> String {
        "http://127.0.0.1:\(client.adminPort)/console/\(page)"
    }

    private func signIn(_ browser: Browser, _ token: String) async throws {
        #expect(try await browser.path.hasPrefix("/console/sign-in"))
        try await browser.write(token, into: "#token")
        try await browser.press("form button")
    }

    /// A payment whose provider recorded another amount, once it was asked about.
    private func quarantined(_ key: String, _ world: World, _ client: APIClient) async throws -> APIClient.Answer {
        try world.simulator.order(FaultOrder(Fault(.amountChanged), operation: .authorize), at: "card")
        let created = try await client.create(Bodies.card(), key: key, wait: 1)
        #expect(try await client.settled(created.id).state == "quarantined")
        try await client.untilInquired(created.id)
        return created
    }

    private func propose(_ browser: Browser, _ action: String, _ text: String, reference: String? = nil) async throws {
        try await browser.choose("select[name=action] option[value=\(action)]")
        try await browser.write(text, into: "textarea[name=text]")
        if let reference { try await browser.write(reference, into: "input[name=reference]") }
        try await browser.press("form[action$='/repairs'] button")
    }

    @Test func `an alert names a payment, and two people bring it to its end`() async throws {
        try await World.run(ConsoleTests.compared) { world, client in
            let created = try await quarantined("console-1", world, client)
            try await Browser.run { onCall in
                try await onCall.open(url(client, "payments/\(created.id)"))
                try await signIn(onCall, World.operatorToken)
                #expect(try await onCall.path == "/console/payments/\(created.id)")
                let why = try await onCall.text
                #expect(
                    why.contains("quarantined") && why.contains("differs from what was asked in key, amount"), "\(why)")

                // What is missing is said, and what was written is still there.
                try await propose(onCall, "undone_outside", "Their mail of today, case 17.")
                #expect(try await onCall.text.contains("reference is missing"))
                let kept = try await onCall.script("return document.querySelector('textarea[name=text]').value")
                #expect(kept as? String == "Their mail of today, case 17.")
                try await onCall.write("RV-881", into: "input[name=reference]")
                try await onCall.press("form[action$='/repairs'] button")
                let repair = try await onCall.path
                #expect(repair.hasPrefix("/console/repairs/rep_"), "\(repair)")
                #expect(try await onCall.text.contains("You proposed it. Another person approves"))
                #expect(try await onCall.count("form[action$='/approve']") == 0)

                try await Browser.run { ken in
                    try await ken.open(url(client))
                    try await signIn(ken, World.approverToken)
                    #expect(try await ken.text.contains("undone_outside by on-call"))
                    try await ken.press("main a[href*='/console/repairs/']")
                    #expect(try await ken.path == repair)
                    let proposal = try await ken.text
                    #expect(proposal.contains("Their mail of today, case 17.") && !proposal.contains("proposed anew"))
                    // Of a card number nothing is kept; what else was written is.
                    try await ken.write("4111 1111 1111 1111, as it was", into: "form[action$='/approve'] textarea")
                    try await ken.press("form[action$='/approve'] button")
                    #expect(try await ken.text.contains("Card numbers are refused"))
                    let reason = "return document.querySelector(\"form[action$='/approve'] textarea\").value"
                    #expect(try await ken.script(reason) as? String == "4111 1111 1111 1111, as it was")
                    _ = try await ken.script(
                        "document.querySelector(\"form[action$='/approve'] textarea\").value = ''; return 1")
                    try await ken.write("I read it too.", into: "form[action$='/approve'] textarea")
                    try await ken.press("form[action$='/approve'] button")
                    let decided = try await ken.text
                    #expect(decided.contains("Approved by ken"), "\(decided)")
                    #expect(try await ken.complaints().allSatisfy { $0.contains("422") })
                }
                #expect(try await client.settled(created.id).state == "failed")
                try await onCall.open(url(client, "payments/\(created.id)"))
                let story = try await onCall.text
                for word in ["failed", "resolved", "RV-881", "on-call", "ken", "approved"] {
                    #expect(story.contains(word), "\(word) is not in the story: \(story)")
                }
                #expect(try await onCall.count("form[action$='/repairs']") == 0)
                // The form that was refused is the one complaint.
                let complaints = try await onCall.complaints()
                #expect(complaints.allSatisfy { $0.contains("409") }, "\(complaints)")
            }
            #expect(try await world.command(["payments", "verify"]).status == 0)
        }
    }

    @Test func `who proposed it cannot approve it, and may take it back`() async throws {
        try await World.run(ConsoleTests.settings) { world, client in
            let created = try await quarantined("console-2", world, client)
            try await Browser.run { ken in
                try await ken.open(url(client, "payments/\(created.id)"))
                try await signIn(ken, World.approverToken)
                try await propose(ken, "resume", "They mended their answers.")
                #expect(try await ken.count("form[action$='/approve']") == 0)
                // A form that somebody makes by hand does not help either.
                _ = try await ken.script(
                    """
                    const form = document.querySelector("form[action$='/reject']");
                    form.action = form.action.replace("/reject", "/approve");
                    """)
                try await ken.write("It is mine.", into: "form[action$='/approve'] textarea")
                try await ken.press("form[action$='/approve'] button")
                #expect(try await ken.text.contains("Nobody approves what they proposed"))
                try await ken.write("Hana shall do it.", into: "form[action$='/reject'] textarea")
                try await ken.press("form[action$='/reject'] button")
                #expect(try await ken.text.contains("Rejected by ken"))
            }
            #expect(try await client.settled(created.id).state == "quarantined")
        }
    }

    @Test func `every page fits into three widths in both themes, and the browser complains of nothing`() async throws {
        try await World.run(ConsoleTests.compared) { world, client in
            let created = try await quarantined("console-3", world, client)
            for value in 1...5 { _ = try await client.create(Bodies.card(value * 123_456), key: "console-\(value)x") }
            for isDark in [false, true] {
                for var window in [Browser.Window.desk, .tablet, .phone] {
                    window.isDark = isDark
                    try await Browser.run(window) { browser in
                        try await browser.open(url(client))
                        try await signIn(browser, World.operatorToken)
                        for page in ConsoleTests.pages + ["payments/\(created.id)"] {
                            try await browser.open(url(client, page))
                            #expect(try await browser.count("h1") == 1, "\(page)")
                            #expect(try await browser.overflow() <= 0, "\(page) at \(window)")
                            try await keep(browser, window, page)
                        }
                        #expect(try await browser.complaints() == [])
                    }
                }
            }
        }
    }

    /// Pictures for whoever wants to look: RECONCILED_PICTURES names a directory.
    private func keep(_ browser: Browser, _ window: Browser.Window, _ page: String) async throws {
        guard let directory = ProcessInfo.processInfo.environment["RECONCILED_PICTURES"] else { return }
        let kind = page.contains("/") ? "payment" : page.isEmpty ? "now" : page
        let name = "\(kind)-\(window.width)-\(window.isDark ? "dark" : "light").png"
        try await browser.picture().write(to: URL(fileURLWithPath: directory).appendingPathComponent(name))
    }

    @Test func `the keyboard is enough, and scripts are not needed`() async throws {
        try await World.run(ConsoleTests.settings) { world, client in
            let created = try await quarantined("console-4", world, client)
            try await Browser.run { browser in
                try await browser.withoutScripts()
                try await browser.open(url(client, "payments/\(created.id)"))
                // The field has the focus; the key of a line's end sends the form.
                for character in World.operatorToken + "\u{E007}" { try await browser.key(String(character)) }
                try await Polling.until("the payment is shown") {
                    try await browser.path == "/console/payments/\(created.id)"
                }
                // The first stop leads past the menu.
                try await browser.key("\u{E004}")
                try await browser.key("\u{E007}")
                try await Polling.until("the content has the focus") { try await browser.fragment == "#main" }
                try await propose(browser, "resume", "They mended their answers.")
                #expect(try await browser.path.hasPrefix("/console/repairs/rep_"))
            }
        }
    }

    @Test func `the first page follows what happens by itself`() async throws {
        try await World.run(ConsoleTests.settings) { world, client in
            try await Browser.run { browser in
                try await browser.open(url(client))
                try await signIn(browser, World.operatorToken)
                #expect(try await browser.text.contains("No payment waits for a person"))
                let created = try await quarantined("console-5", world, client)
                try await Polling.until("the page shows the payment", within: .seconds(90)) {
                    try await browser.text.contains(created.id)
                }
            }
        }
    }
}
