package api

import "time"

// StoredFile is a file that a client put into a session.
type StoredFile struct {
	Name   string    `json:"name" doc:"as given, made safe and unique"`
	Path   string    `json:"path" doc:"on the session's host"`
	Size   int64     `json:"size" doc:"in bytes"`
	SHA256 string    `json:"sha256,omitempty" doc:"of the content, hexadecimal; absent in lists"`
	Stored time.Time `json:"stored"`
}

// DigestTrailer is the trailer of a response with a file's content: sha-256=:BASE64: (RFC 9530). Without it the response
// is incomplete.
const DigestTrailer = "Repr-Digest"

// Headers of a response with a file's content.
const (
	FileNameHeader = "Longterm-File-Name" // URL-encoded
	FileModeHeader = "Longterm-File-Mode" // permissions, octal
)
