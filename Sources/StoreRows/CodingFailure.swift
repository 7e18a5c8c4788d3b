internal import PaymentCore
package import Reconciler

extension StoreFailure {
    /// The failure behind an error of an encoder, a decoder or a name that was read.
    package init(coding error: any Error, operation: String) {
        switch error {
        case let failure as StoreFailure:
            self = failure
        case let error as DecodingError:
            self.init(.corrupted, operation: operation, cause: StoreFailure.words(for: error))
        case is MalformedName:
            self.init(.corrupted, operation: operation, cause: "a stored name is malformed")
        case is EncodingError:
            self.init(.other, operation: operation, cause: "the payment cannot be encoded")
        default:
            self.init(.other, operation: operation, cause: String(describing: type(of: error)))
        }
    }

    private static func words(for error: DecodingError) -> String {
        let path: [any CodingKey] =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context.codingPath
            @unknown default: []
            }
        let field = path.map(\.stringValue).joined(separator: ".")
        return "a stored document does not decode at \(field.isEmpty ? "its top" : field)"
    }
}
