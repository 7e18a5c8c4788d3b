internal import Mustache

/// The templates of the console's pages.
///
/// They escape everything: none of them has the marks that put a text in as it is, which a test makes sure of.
struct ConsoleTemplates: Sendable {
    private static let sources: [(name: String, text: [UInt8])] = [
        ("layout", PackageResources.layout_mustache), ("time", PackageResources.time_mustache),
        ("money", PackageResources.money_mustache), ("problem", PackageResources.problem_mustache),
        ("more", PackageResources.more_mustache), ("paymentrow", PackageResources.paymentrow_mustache),
        ("repairrow", PackageResources.repairrow_mustache),
        ("signin", PackageResources.signin_mustache), ("now", PackageResources.now_mustache),
        ("payments", PackageResources.payments_mustache), ("payment", PackageResources.payment_mustache),
        ("proposal", PackageResources.proposal_mustache), ("queue", PackageResources.queue_mustache),
        ("discrepancy", PackageResources.discrepancy_mustache), ("repairs", PackageResources.repairs_mustache),
        ("repair", PackageResources.repair_mustache), ("comparisons", PackageResources.comparisons_mustache),
        ("comparison", PackageResources.comparison_mustache), ("drills", PackageResources.drills_mustache),
        ("site", PackageResources.site_mustache), ("failure", PackageResources.failure_mustache),
        ("entry", PackageResources.entry_mustache),
    ]

    /// The names of all templates, and their texts.
    static var all: [(name: String, text: String)] {
        sources.map { ($0.name, String(decoding: $0.text, as: UTF8.self)) }
    }

    private let library: MustacheLibrary

    /// Reads all templates. They are part of the program: that one cannot be read is a defect of it.
    init() {
        var library = MustacheLibrary()
        for (name, text) in ConsoleTemplates.all {
            do {
                try library.register(text, named: name)
            } catch {
                preconditionFailure("the template \(name) cannot be read: \(error)")
            }
        }
        self.library = library
    }

    /// The page of a template, in bytes.
    func render(_ name: String, _ model: [String: Any]) -> [UInt8] {
        guard let page = library.render(model, withTemplate: name) else {
            preconditionFailure("there is no template \(name)")
        }
        return Array(page.utf8)
    }
}
