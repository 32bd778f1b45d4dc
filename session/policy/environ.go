package policy

import "strings"

// meaning are variables that change which programs run or what they do, by their beginnings.
var meaning = []string{"PATH", "LD_", "DYLD_", "GIT_", "BASH_", "ENV", "IFS", "PS1", "PS2", "PS4", "PS0",
	"PROMPT", "NODE_", "PYTHON", "RUBY",
	"PERL", "JAVA", "_JAVA", "JDK_", "TERMINFO", "TERMCAP", "HOME", "LESS", "MAN", "SHELL", "CDPATH",
	"GLOBIGNORE", "HIST", "XDG_", "TMPDIR",
	"GREP_", "RIPGREP_", "LOCPATH", "GCONV_PATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "OPENSSL",
	"SSL_", "CURL_", "RUSTC", "CARGO", "GO",
	"CC", "CXX", "MAKE", "npm_", "NPM_", "SSH_", "SUDO_", "AWK", "GAWK", "ZDOTDIR", "FPATH", "fpath",
	"INPUTRC", "http_proxy", "https_proxy",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "BROWSER", "VISUAL", "EDITOR", "PAGER", "FZF_", "TAR_",
	"RSYNC_", "GZIP", "UNZIP", "ZIP",
	"MALLOC_", "GLIBC_", "FIGNORE", "EXECIGNORE", "POSIXLY", "DOCKER_", "KUBE", "AWS_", "LUA_", "PHP",
	"GEM_", "BUNDLE_", "PIP_", "VIM",
	"FCEDIT", "LONGTERM", "WINEPREFIX", "BAT_", "DELTA_", "JQ", "TEXMF", "GTK_", "QT_", "DISPLAY_",
	"SYSTEMD_", "DEB", "R_", "JULIA_"}

// changesMeaning reports whether a variable changes what programs run or do.
func changesMeaning(name string) bool {
	for _, m := range meaning {
		if strings.HasPrefix(name, m) {
			return true
		}
	}
	return strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name,
		"_OPTIONS") ||
		strings.HasSuffix(name, "OPTS") || strings.HasSuffix(name, "_COMMAND") || strings.HasSuffix(name,
		"_PRELOAD")
}

// codeVariable reports whether programs run the value of a variable as shell text.
func codeVariable(name string) bool {
	switch name {
	case "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "PAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN",
		"LESSCLOSE", "MANPAGER",
		"GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF",
		"GIT_ASKPASS", "SSH_ASKPASS",
		"RSYNC_RSH", "TAR_OPTIONS", "FCEDIT", "GIT_PROXY_COMMAND", "SYSTEMD_PAGER",
		"CARGO_BUILD_RUSTC_WRAPPER", "RUSTC_WRAPPER":
		return true
	}
	for _, end := range []string{"_COMMAND", "_CMD", "_PROGRAM", "EDITOR", "PAGER", "BROWSER", "ASKPASS", "_RSH", "WRAPPER",
		"_HOOK", "_SSH", "OPENER"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	switch name {
	case "CC", "CXX", "LD", "AR", "AS", "CPP", "MAKE", "SHELL", "MAKESHELL", "RUSTC", "GOFLAGS", "MAKEFLAGS":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}
