package evidence

import (
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/pattern"
)

// maxLineBytes bounds what is looked at of a line: its end, where prompts are.
const maxLineBytes = 512

// secretWords are what programs call a secret, in the languages they commonly speak.
const secretWords = `pass(?:word|phrase|code|wd)|pin(?: code)?|secret|otp|one-time code|verification code|` +
	`authentication code|api[ _-]?key|access token|auth token|token|` +
	`passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|lösenord|adgangskode|hasło|parola|пароль|` +
	`密码|密碼|口令|パスワード|암호|비밀번호`

// saysSecret holds for a line with such a word in it, whatever else it says.
var saysSecret = pattern.Lazy(`(?i)(?:` + secretWords + `)`)

// phrase is a row of the table of prompts: what an unfinished line looks like that asks
// for something of a kind.
type phrase struct {
	kind Kind
	re   pattern.Pattern
	what string
	shut bool // only for questions that yes or no can answer
}

// answer is what may follow an offer: the default, and what has been typed already.
const answer = `(?:\s*\[[^\]]{0,20}\])?[?:>›»]*\s*\S{0,3}$`

// phrases are tried in order on the text before the cursor.
var phrases = []phrase{
	{Password, pattern.Lazy(`(?i)(?:^|[^\pL\pN])(?:` + secretWords + `)(?:$|[^\pL\pN].*)[:?>›»：]\s*[*•●∙·]*\s*$`), "asks for a secret", false},
	{Password, pattern.Lazy(`(?i)(?:` + secretWords + `)\s*[:：]\s*[*•●∙·]*\s*$`), "asks for a secret", false},
	{Menu, pattern.Lazy(`^\s*(?:#\?|\?#) ?\S{0,3}$`), "is the shell's select prompt", false},
	{Confirm, pattern.Lazy(`(?i)[\[(<{]\s*(?:y(?:es)?|n(?:o)?|j(?:a)?|o(?:ui)?|s(?:i|í)?|д)\s*(?:[/|,]\s*\[?[\pL?!-][\pL-]*\]?\s*){1,12}[\])>}]\s*` + answer), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)[\[(<]\s*\[?y(?:es)?\]?\s+or\s+\[?no?\]?\s*[\])>]\s*` + answer), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\[(?:[a-z?!/],){2,14}[a-z?!/]\]\s*` + answer), "offers keys", false},
	{Confirm, pattern.Lazy(`(?i)\(\s*(?:y|yes|n|no)\s*\)\s*` + answer), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\[y\]es,? *\[n\]o.*` + answer), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\by(?:es)?\s*/\s*no?\s*[)\]]?\s*` + answer), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\b(?:press|hit|drücken sie|appuyez sur)\b.{0,40}\b(?:key|enter|return|space|taste|touche|any)\b.{0,60}$`), "asks for a key", false},
	{Confirm, pattern.Lazy(`--\s?(?:More|Mehr|Plus)\s?--(?:\s*\(\d+%\))?\s*$`), "is a pager's prompt", false},
	{Confirm, pattern.Lazy(`(?i)\b(?:are you sure|do you (?:really )?(?:want|wish)|would you like|shall (?:i|we)|should (?:i|we)|is (?:this|that) (?:ok|correct|right)|ok to|really)\b[^?]*` + `\?\s*\S{0,3}$`), "asks whether to go on", true},
	{Confirm, pattern.Lazy(`(?i)\b(?:continue|proceed|overwrite|replace|delete|remove|abort|retry|confirm|accept|trust|quit|exit|install|upgrade|fortfahren|continuer)\b[^?]*\?\s*\S{0,3}$`), "asks whether to go on", true},
	{Confirm, pattern.Lazy(`(?i)\b(?:type|enter)\s+["'“‘]?yes["'”’]?\b.*[:?>]\s*\S{0,3}$`), "asks for the word yes", false},
}

// openQuestion holds for questions that yes or no do not answer.
var openQuestion = pattern.Lazy(`(?i)(?:^|[^\pL])(?:what|which|where|who|how|when|why|welche[rs]?|wie|quel(?:le)?)(?:$|[^\pL])`)

// aboveYes is how a question two lines long says what it accepts.
var aboveYes = pattern.Lazy(`(?i)(?:only|type|enter|write)\s+["'“‘]?yes["'”’]?`)

// wholeLine holds for a question that ended its line: the cursor is on the next one.
var wholeLine = pattern.Lazy(`(?i)(?:[\[(]y(?:es)?/no?[\])]\s*[:?]?|\b(?:press|hit)\b.{0,40}\b(?:key|enter|return)\b.{0,60})\s*$`)

var (
	// promptEnd is how an unfinished line ends that waits for its continuation.
	promptEnd = pattern.Lazy(`[:?>$#%»›❯➜λ)\]：？] $|[:?>：？]$`)
	// replPrompt is the prompt of a program that takes commands: it says nothing of what is above.
	replPrompt = pattern.Lazy(`^(?:>>>|\.\.\.|\(\w+\)|(?:In|Out) ?\[\d+\]:|ftp>|[\w.@:/-]{1,40}(?:\([\w@/.:-]{0,60}\))?(?::\d{1,4})*(?::\d)?[=*!^'"-]?[>#]) $`)
	// remotePrompt is a shell's prompt behind a relay: user, host or directory before its sign.
	remotePrompt = pattern.Lazy(`^[^\s:]*[\w\])@~/-](?:[:@ ][^\s]*)*\s?[$#%❯➜] $`)
	// readPrompt is what fish prints when a script of it reads.
	readPrompt = pattern.Lazy(`^read> `)
	// shellEnd is how a shell's prompt ends, and a command being typed may follow.
	shellEnd = pattern.Lazy(`[$#%>❯➜λ»›⟩](?: |$)`)
	// menuWords ask for a choice among what is listed above.
	menuWords = pattern.Lazy(`(?i)\b(?:choice|choose|select(?:ion)?|option|pick|which|number|auswahl|choix)\b`)
	// numbered is a row of a list of choices.
	numbered = pattern.Lazy(`^\s*[\[(]?(\d{1,3})[\]).:]\s*\S`)
	// marked is a choice with the marker of an arrow-key menu.
	marked = pattern.Lazy(`^\s*(?:│\s*)?(?:[❯›▸▶►➤→◆●◉◯○◻◼☐☑☒✔✓]|\[[ xX*]\])\s*\S`)
	// pointed is one with a plain marker, which is only one above or below its like.
	pointed = pattern.Lazy(`^(\s*)[>*] (?:\S)`)
	// question is the heading of such a menu.
	question = pattern.Lazy(`^\s*(?:│\s*)?(?:\?|◆|\[\?\]|❓|›)\s+\S`)
	// progress is a line that is being redrawn by a program at work.
	progress = pattern.Lazy(`(?i)\d\s?%|[█▓▒░━▰▱■□]{3}|\[[=#>.\-\s*]{5,}\]|[=#]{4,}>|\bETA\b|\b\d+(?:\.\d+)?\s?[kmgt]i?b(?:/s|ps)|` +
		`\b\d+\s?/\s?\d+\b|[\x{2800}-\x{28ff}◐◓◑◒◴◷◶◵◰◳◲◱⣾⣽⣻⢿⡿⣟⣯⣷]|(?:^|\s)[|/\\-]$|^[|/\\-]\s|[^\s.…]\s?(?:\.{2,}|…)\s?$|\b\d+ of \d+\b`)
	pagerEnd = pattern.Lazy(`^(?:\(END\)|:|.*\(press h for help or q to quit\)|lines \d+-\d+.*)\s*$`)
)

// tail is the end of a line as far as it is looked at.
func tail(line string) string { return lastBytes(line, maxLineBytes) }

// lastBytes is the end of a text, of at most n bytes and whole characters.
func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// ask finds what a line asks for.
func ask(line string) (phrase, bool) {
	if strings.TrimSpace(line) == "" {
		return phrase{}, false
	}
	for _, p := range phrases {
		if p.re.MatchString(line) && !(p.shut && openQuestion.MatchString(line)) {
			return p, true
		}
	}
	return phrase{}, false
}
