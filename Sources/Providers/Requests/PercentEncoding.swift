/// How names and values stand in an address and in a form.
enum PercentEncoding {
    /// `name=value` for each pair, with `&` between them: a query, or a form.
    static func pairs(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }

    /// Percent-encodes everything but letters, digits, `-` and `_`.
    ///
    /// The other unreserved characters are encoded too, so that no segment of a path can be read as `.` or `..` on its
    /// way.
    static func encoded(_ text: String) -> String {
        let hexadecimal: [Character] = Array("0123456789ABCDEF")
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded.append("%")
                encoded.append(hexadecimal[Int(byte >> 4)])
                encoded.append(hexadecimal[Int(byte & 15)])
            }
        }
        return encoded
    }
}
