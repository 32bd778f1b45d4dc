//go:build unix

package shell

// shells are those that real-shell tests run in.
var shells = []struct {
	name string
	argv []string
}{
	{"bash", []string{"bash"}},
	{"zsh", []string{"zsh"}},
	{"fish", []string{"fish"}},
	{"mksh", []string{"mksh"}},
	{"dash", []string{"dash"}},
	{"ksh", []string{"ksh"}},
}
