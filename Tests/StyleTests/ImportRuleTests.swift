import Testing

@Suite struct ImportRuleTests {
    private func findings(_ target: String, _ source: String) -> [Finding] {
        ImportRule.project.findings(in: [SourceFile(path: "Sources/\(target)/A.swift", content: source)])
    }

    @Test(arguments: [
        ("PaymentCore", "import Foundation\n"),
        ("PaymentCore", "import FoundationEssentials\n"),
        ("PaymentCore", "import Reconciler\n"),
        ("PaymentCore", "import Logging\n"),
        ("Reconciler", "public import struct Foundation.Date\n"),
        ("Reconciler", "import MemoryStore\n"),
        ("Reconciler", "import Hummingbird\n"),
        ("SQLiteStore", "@testable import MemoryStore\n"),
        ("HTTPTransport", "import PaymentCore\n"),
        ("StrictJSON", "import Foundation\n"),
        ("StrictJSON", "import PaymentCore\n"),
        ("Providers", "@preconcurrency import CLibCurl\n"),
        ("PaymentAPI", "internal import GRDB\n"),
        ("PaymentAPI", "import OperationsConsole\n"),
        ("ProviderSimulator", "import PaymentCore\n"),
        ("ReconcileDaemon", "import Simulation\n"),
        ("Lab", "import Hummingbird\n"),
        ("Lab", "import SQLiteStore\n"),
    ])
    func `an import against the rule is found`(_ target: String, _ source: String) {
        #expect(findings(target, source).map(\.line) == [1])
    }

    @Test(arguments: [
        ("PaymentCore", "import Crypto\n"),
        ("Reconciler", "import Logging\nimport Metrics\npublic import PaymentCore\n"),
        ("SQLiteStore", "import Foundation\nimport GRDB\nimport Reconciler\n"),
        ("HTTPTransport", "import CLibCurl\nimport Foundation\n"),
        ("Providers", "import HTTPTransport\nimport StrictJSON\n"),
        ("ReconcileDaemon", "import SQLiteStore\nimport PaymentAPI\nimport Hummingbird\n"),
    ])
    func `an import within the rule passes`(_ target: String, _ source: String) {
        #expect(findings(target, source) == [])
    }

    @Test func `an import in a comment or a string is none`() {
        #expect(
            findings("PaymentCore", "// import Foundation\nlet a = \"\"\"\nimport Foundation\n\"\"\"\n") == []
        )
    }

    @Test func `a target that the rule does not know fails`() {
        #expect(findings("Unknown", "let a = 1\n").count == 1)
    }

    @Test func `the message names the place, the fault and what is allowed`() {
        #expect(
            findings("Reconciler", "\nimport SQLiteStore\n").first?.description
                == "Sources/Reconciler/A.swift:2: Reconciler imports SQLiteStore; "
                + "allowed: of our own targets: PaymentCore")
    }
}
