package shell

import (
	"maps"
	"testing"
	"unsafe"
)

// TestEnv_Compact checks that a read environment equals its file, and holds no memory of it: its texts are adjacent.
func TestEnv_Compact(t *testing.T) {
	for name, want := range map[string]Env{
		"longterm-env 1 nul 7\nA=one\x00EMPTY=\x00LONG=a=b\nc\x00# end 7\n":                             {"A": "one", "EMPTY": "", "LONG": "a=b\nc"},
		"longterm-env 1 sh 7\ndeclare -x A=\"one\"\ndeclare -x EMPTY=\"\"\nexport B='t w o'\n# end 7\n": {"A": "one", "EMPTY": "", "B": "t w o"},
		"longterm-env 1 nul 7\n# end 7\n":                                                               {},
	} {
		env, prompt, err := ParseEnviron([]byte(name))
		if err != nil || prompt != 7 || !maps.Equal(env, want) {
			t.Errorf("%q: %q of prompt %d, %v", name, env, prompt, err)
		}
		size, low, high := 0, ^uintptr(0), uintptr(0)
		for k, v := range env {
			at := uintptr(unsafe.Pointer(unsafe.StringData(k)))
			size, low, high = size+len(k)+len(v), min(low, at), max(high, at+uintptr(len(k)+len(v)))
		}
		if size > 0 && high-low != uintptr(size) {
			t.Errorf("%q: %d bytes lie in %d", name, size, high-low)
		}
	}
}
