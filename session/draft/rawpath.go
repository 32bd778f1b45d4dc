package draft

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// rawPath is a relative path in a file of a draft. Its JSON is a string, or, if it is not UTF-8, an object with base64.
type rawPath string

// MarshalJSON implements json.Marshaler.
func (p rawPath) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return json.Marshal(string(p))
	}
	return json.Marshal(struct {
		B []byte `json:"b64"`
	}{[]byte(p)})
}

// UnmarshalJSON rejects paths that are not clean and relative.
func (p *rawPath) UnmarshalJSON(b []byte) error {
	var s string
	if len(b) > 0 && b[0] == '{' {
		var o struct {
			B []byte `json:"b64"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		s = string(o.B)
	} else if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if err := checkRel(s); err != nil {
		return err
	}
	*p = rawPath(s)
	return nil
}

var errNotRel = errors.New("path is not clean and relative")

// checkRel rejects anything but a clean relative path. The empty path is the root.
func checkRel(s string) error {
	if s == "" {
		return nil
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsRune(part, 0) {
			return errNotRel
		}
	}
	return nil
}
