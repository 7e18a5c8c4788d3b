/// A member name that is not known in advance.
struct MemberName: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        return nil
    }
}

extension Decoder {
    /// A misspelled member would otherwise be an order that silently does nothing.
    func refuseMembers(besides known: [any CodingKey]) throws {
        let names = Set(known.map(\.stringValue))
        let container = try container(keyedBy: MemberName.self)
        for key in container.allKeys where !names.contains(key.stringValue) {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "unknown member \(key.stringValue)"))
        }
    }

    /// An error that says which member is at fault and what is allowed there.
    func refuse(_ key: any CodingKey, _ allowed: String) -> DecodingError {
        DecodingError.dataCorrupted(
            .init(codingPath: codingPath + [key], debugDescription: "\(key.stringValue): \(allowed)"))
    }
}

extension DecodingError {
    /// One line for a person: the member and what is wrong with it.
    var explanation: String {
        switch self {
        case .dataCorrupted(let context): context.debugDescription
        case .keyNotFound(let key, _): "\(key.stringValue): missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
        @unknown default: "not understood"
        }
    }

    /// The member at fault, where the decoder knows it.
    var member: String? {
        switch self {
        case .keyNotFound(let key, let context):
            (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
        case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty ? nil : context.codingPath.map(\.stringValue).joined(separator: ".")
        @unknown default: nil
        }
    }
}
