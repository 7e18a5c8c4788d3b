public import PaymentCore

extension PaymentChange {
    /// Checks that the change does not contradict itself: its entries are a chain that ends at the head which the
    /// payment remembers, and its key's record is of the same payment and caller.
    ///
    /// - Returns: The head of the stored trail to which the entries must be added.
    /// - Throws: ``StoreFailure`` with the code `other`; nothing may be written.
    public func checkedHeadBefore() throws(StoreFailure) -> AuditHead {
        let before = try headBefore()
        if let record, record.payment != payment.id || record.caller != payment.caller {
            throw StoreFailure(.other, operation: "commit", cause: "the key's record is of another payment")
        }
        return before
    }

    private func headBefore() throws(StoreFailure) -> AuditHead {
        guard let first = entries.first else { return payment.auditHead }
        let before = AuditHead(sequence: first.sequence - 1, hash: first.previous)
        var head = before
        for entry in entries {
            guard entry.sequence == head.sequence + 1, entry.previous == head.hash else { break }
            head = AuditHead(sequence: entry.sequence, hash: entry.hash)
        }
        guard head == payment.auditHead else {
            throw StoreFailure(
                .other, operation: "commit", cause: "the audit entries do not lead to the payment's head")
        }
        return before
    }

    /// Checks that entries which begin after `before` continue the trail whose newest entry is `stored`.
    ///
    /// - Throws: ``StoreFailure`` with the code `other`; nothing may be written.
    public static func requireContinuation(
        from before: AuditHead, of stored: AuditHead
    ) throws(StoreFailure) {
        guard before == stored else {
            throw StoreFailure(
                .other, operation: "commit", cause: "the audit entries do not continue the stored trail")
        }
    }
}
