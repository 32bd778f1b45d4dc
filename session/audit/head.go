package audit

import (
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Head identifies the newest record: its hash fixes all records before it. The zero value is a log without records.
type Head struct {
	Seq  uint64 `json:"seq" doc:"number of the newest record; 0: none"`
	Hash string `json:"hash" doc:"its hash"`
}

// String returns the head in the form of ParseHead: "12:9f…".
func (h Head) String() string {
	hash := h.Hash
	if hash == "" {
		hash = zeroHash
	}
	return strconv.FormatUint(h.Seq, 10) + ":" + hash
}

// ParseHead parses a head.
func ParseHead(s string) (Head, error) {
	number, hash, ok := strings.Cut(s, ":")
	seq, err := strconv.ParseUint(number, 10, 63)
	if raw, herr := hex.DecodeString(hash); !ok || err != nil || herr != nil || len(raw)*2 != len(zeroHash) || hash != strings.ToLower(hash) {
		return Head{}, fmt.Errorf("%q is no head of an audit log: NUMBER:HASH with 64 hexadecimal digits, as `longterm audit --head` prints it", s)
	}
	return Head{seq, hash}, nil
}

// headPath returns the path of a log's head file, next to its directory.
func headPath(dir string) string { return dir + ".head" }

// headLine returns the content of the head file, of constant length, so that a single write overwrites it.
func headLine(h Head) []byte {
	return fmt.Appendf(nil, "%020d:%s\n", h.Seq, h.String()[strings.IndexByte(h.String(), ':')+1:])
}

// readHead reads the head file. It returns nil if the file is missing.
func readHead(fsys FS, dir string) (*Head, error) {
	b, err := readFile(fsys, headPath(dir))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h, err := ParseHead(strings.TrimSuffix(string(b), "\n"))
	if err != nil || string(headLine(h)) != string(b) || h.Seq == 0 && h.Hash != zeroHash {
		return nil, fmt.Errorf("%s is damaged", headPath(dir))
	}
	return &h, nil
}
