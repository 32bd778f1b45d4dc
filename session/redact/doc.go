// Package redact finds and masks secrets in output and on screens: each of their bytes becomes '*', so that offsets
// and lengths stay the same.
//
// names → values → Vault (fingerprints) → Set → Mask: output by offset · RedactFrame: cells · RedactText
//
// A secret is known by value (Vault.Learn), or by the typical form of a token (formats.go). The Vault does not store
// values but their lengths and keyed hashes, so that a session's output can be masked after its program and daemon have
// exited.
//
// Only whole secrets are masked, and nothing else depends on them: omitting or delaying a tail that starts like a
// secret would confirm guesses letter by letter. Callers read output once it has settled (SettleTime).
//
// The masking of a byte depends on at most ContextBytes bytes before and after it, never on where a read starts or ends:
// every read masks the same bytes. Escape sequences, line ends and line editors' wraps may occur within a value and are
// not masked.
//
// A Set is immutable and may be shared; a Vault has a lock. Nothing here reads files or clocks.
package redact
