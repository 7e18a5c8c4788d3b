/// A window of the provider's clock, by when transactions changed last: from `from`, inclusive, to `to`, exclusive.
public struct ComparedWindow: Sendable, Hashable, Codable {
    /// The beginning, inclusive.
    public let from: Timestamp
    /// The end, exclusive.
    public let to: Timestamp

    /// A window; `nil` if it holds no time.
    public init?(from: Timestamp, to: Timestamp) {
        guard from < to else { return nil }
        self.from = from
        self.to = to
    }

    /// Whether a moment lies within.
    public func contains(_ moment: Timestamp) -> Bool { from <= moment && moment < to }

    private enum CodingKeys: String, CodingKey { case from, to }

    /// Decodes and checks both ends.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let from = try container.decode(Timestamp.self, forKey: .from)
        guard let window = ComparedWindow(from: from, to: try container.decode(Timestamp.self, forKey: .to)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .to, in: container, debugDescription: "the end is not after the beginning")
        }
        self = window
    }
}
