/// What this build is.
public enum BuildVersion {
    /// The version of both programs.
    public static let text = "0.1.0"
}
