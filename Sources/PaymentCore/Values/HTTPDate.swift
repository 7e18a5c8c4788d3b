extension Timestamp {
    /// The moment of an IMF-fixdate (RFC 9110, section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for
    /// anything else, also for the obsolete forms of a date.
    public init?(httpDate text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let weekdays = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard words.count == 6, weekdays.contains(String(words[0])), words[1].utf8.count == 2,
            let month = months.firstIndex(of: String(words[2])), words[5] == "GMT"
        else { return nil }
        let twoDigits = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(rfc3339: "\(words[3])-\(twoDigits)-\(words[1])T\(words[4])Z")
    }
}
