public import PaymentCore
internal import StrictJSON

/// Documents of the operations API as one line of JSON each, for the command line.
public enum ComparisonDocument {
    /// A run, with its progress.
    public static func line(_ run: ComparisonRun) -> String { text(ComparisonRendering.run(run)) }

    /// What a run found.
    public static func line(_ finding: RunFinding) -> String { text(ComparisonRendering.finding(finding)) }

    /// A discrepancy; with both sides and its history if all of it is wanted.
    public static func line(_ discrepancy: Discrepancy, isComplete: Bool) -> String {
        text(isComplete ? DiscrepancyRendering.document(discrepancy) : DiscrepancyRendering.summary(discrepancy))
    }

    private static func text(_ document: JSONValue) -> String { String(decoding: document.bytes, as: UTF8.self) }
}
