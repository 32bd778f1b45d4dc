// Package secrets finds secrets in output and on screens, and masks them: each of their bytes becomes '*',
// so that offsets and lengths stay what they are.
//
//	names → values → Vault (fingerprints) → Set → Mask: output by offset · Frame: cells · Text
//
// A secret is known by value (Vault.Learn), or by the form that only tokens have (formats.go). Values are
// not kept: a Vault has their lengths and keyed hashes, so that the output of a session can be masked
// after its program, and the daemon that saw its environment, have exited.
//
// Only whole secrets are masked, and nothing else depends on them: a tail that is omitted or delayed because a secret
// starts like it would confirm a guess letter by letter. A caller reads output once it has settled (Settle).
//
// Whether a byte is masked depends on what stands at most Reach bytes before and after it, never on where a
// reading begins or ends: every reading masks the same bytes. Escape sequences, ends of lines and what line
// editors print where they wrap may stand within a value and stay as they are.
//
// A Set does not change and may be used by many; a Vault has a lock. Nothing here reads files or clocks.
package secrets
