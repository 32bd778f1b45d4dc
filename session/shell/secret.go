package shell

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// secretWords in a variable's name, between underscores, mark its value as secret.
var secretWords = []string{
	"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "KEY", "APIKEY", "CREDENTIAL", "CREDENTIALS",
	"AUTH", "AUTHORIZATION", "COOKIE", "SIGNATURE", "PRIVATE", "DSN", "PIN", "OTP", "JWT", "BEARER", "NONCE", "WEBHOOK",
}

// publicNames have such a word, although their values are no secrets.
var publicNames = map[string]bool{
	"PWD": true, "OLDPWD": true, "SSH_AUTH_SOCK": true, "XAUTHORITY": true, "GPG_KEY": true, "KEYTIMEOUT": true,
}

// secretValues matches forms that only secrets have.
var secretValues = pattern.Lazy(strings.Join([]string{
	`\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}`,                     // AWS
	`\bgh[pousr]_[A-Za-z0-9]{16,}`,                                    // GitHub
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,                                  //
	`\bglpat-[A-Za-z0-9_-]{16,}`,                                      // GitLab
	`\bxox[abeoprs]-[A-Za-z0-9-]{8,}`,                                 // Slack
	`\bsk-[A-Za-z0-9_-]{16,}`,                                         // OpenAI, Anthropic
	`\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}`,                          // Stripe
	`\bAIza[A-Za-z0-9_-]{30,}`,                                        // Google
	`\bya29\.[A-Za-z0-9_-]{16,}`,                                      //
	`\bnpm_[A-Za-z0-9]{30,}`,                                          // npm
	`\bpypi-[A-Za-z0-9_-]{16,}`,                                       // PyPI
	`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,                    // SendGrid
	`\bhvs\.[A-Za-z0-9_-]{16,}`,                                       // Vault
	`\bdop_v1_[a-f0-9]{32,}`,                                          // DigitalOcean
	`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`,                                // PEM
	`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`,    // JWT
	`[A-Za-z][A-Za-z0-9+.-]*://[^\s/@:]*:[^\s/@]+@`,                   // URL with a password
	`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}`,                // Authorization
	`(?i)(?:password|passwd|secret|token|api_?key)["']?\s*[=:]\s*\S+`, // connection strings
}, "|"))

// IsSecret reports whether a variable's value must not be shown, by its name or its form. In doubt it returns true.
func IsSecret(name, value string) bool {
	if value == "" {
		return false
	}
	return isSecretName(name) || secretValues.MatchString(value)
}

// isSecretName reports whether a variable's name marks its value as secret.
func isSecretName(name string) bool {
	name = strings.ToUpper(name)
	if publicNames[name] {
		return false
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r >= '0' && r <= '9' }) {
		for _, secret := range secretWords {
			if word == secret || word == secret+"S" || len(secret) > 4 && strings.Contains(word, secret) ||
				strings.HasSuffix(word, "KEY") || strings.HasSuffix(word, "PASS") || strings.HasSuffix(word, "PWD") {
				return true
			}
		}
	}
	return false
}
