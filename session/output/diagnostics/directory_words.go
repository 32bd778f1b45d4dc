package diagnostics

import (
	"strings"
	"unicode/utf8"
)

// moveMessages are the messages for entering and leaving a directory, with % in place of its name: those of GNU make in its
// languages. bmake, ninja, SCons, Waf and Bazel use the first one.
var moveMessages = [][2]string{
	{"Entering directory %", "Leaving directory %"},
	{"Verzeichnis % wird betreten", "Verzeichnis % wird verlassen"},
	{"on entre dans le répertoire %", "on quitte le répertoire %"},
	{"se entra en el directorio %", "se sale del directorio %"},
	{"ingresso nella directory %", "uscita dalla directory %"},
	{"Entrando no diretório %", "Saindo do diretório %"},
	{"a entrar na pasta %", "a sair da pasta %"},
	{"Map % wordt binnengegaan", "Map % wordt verlaten"},
	{"Går till katalogen %", "Lämnar katalogen %"},
	{"Går til katalog %", "Forlader katalog %"},
	{"Siirrytään hakemistoon %", "Poistutaan hakemistosta %"},
	{"Wejście do katalogu %", "Opuszczenie katalogu %"},
	{"Vstupuje se do adresáře %", "Opouští se adresář %"},
	{"Ulazi se u direktorij %", "Izlazi se iz direktorija %"},
	{"Улазим у директоријум %", "Напуштам директоријум %"},
	{"влизане в директория %", "излизане от директория %"},
	{"вход в каталог %", "выход из каталога %"},
	{"входимо до каталогу %", "Залишаю каталог %"},
	{"Ag dul isteach i gcomhadlann %", "Ag dul amach as comhadlann %"},
	{"Memasuki direktori %", "Meninggalkan direktori %"},
	{"Vào thư mục %", "Rời khỏi thư mục %"},
	{"ディレクトリ % に入ります", "ディレクトリ % から出ます"},
	{"디렉터리 % 들어감", "디렉터리 % 나감"},
	{"进入目录%", "离开目录%"},
	{"進入目錄%", "離開目錄%"},
}

// directoryReporters are programs other than make that report their directory.
var directoryReporters = set("ninja", "samu", "scons", "waf", "bazel")

// parseReporter identifies the reporting program by the text before the first colon, and returns its level and the words
// after it. cmake prints no name before them.
func parseReporter(line string) (level int, words string, ok bool) {
	colon := strings.IndexByte(line, ':')
	if colon < 3 || colon > 200 {
		return 0, "", false
	}
	name, words := strings.TrimRight(line[:colon], blankChars), strings.Trim(line[colon+1:], blankChars)
	if name == "Change Dir" {
		return otherLevel, "Entering directory " + words, true
	}
	if front, number, found := strings.Cut(strings.TrimSuffix(name, "]"), "["); found && strings.HasSuffix(name, "]") {
		name, level = front, parseLevel(number)
	}
	name = strings.TrimSuffix(strings.ToLower(name[strings.LastIndexAny(name, `/\`)+1:]), ".exe")
	switch {
	case strings.HasSuffix(name, "make") && level >= 0:
		return level, words, true
	case directoryReporters[name]:
		return otherLevel, words, true
	}
	return 0, "", false
}

// parseLevel returns a make's level, or -1.
func parseLevel(s string) int {
	if s == "" || len(s) > 4 {
		return -1
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// blankChars surround names and words; in French texts they are non-breaking.
const blankChars = " \t\r\u00a0\u202f"

// quoteChars surround names.
const quoteChars = "'`\"‘’‚“”„«»‹›「」『』"

// parseMove returns the directory in a message and whether it is entered. ok is false for other words.
func parseMove(words string) (dir string, enters, ok bool) {
	switch words {
	case "Entering an unknown directory":
		return "", true, true
	case "Leaving an unknown directory":
		return "", false, true
	}
	for i := range moveMessages {
		for k, form := range moveMessages[i] {
			before, after, _ := strings.Cut(form, "%")
			if len(words) < len(before)+len(after) || !strings.HasPrefix(words, before) || !strings.HasSuffix(words, after) {
				continue
			}
			dir = unquoteDirectory(words[len(before) : len(words)-len(after)])
			return strings.Clone(dir), k == 0, dir != ""
		}
	}
	return "", false, false
}

// unquoteDirectory removes one pair of quotes from a name. There are many kinds; old makes print `x'.
func unquoteDirectory(name string) string {
	name = strings.Trim(name, blankChars)
	first, n := utf8.DecodeRuneInString(name)
	last, m := utf8.DecodeLastRuneInString(name)
	if len(name) < n+m || first == utf8.RuneError || !strings.ContainsRune(quoteChars, first) || !strings.ContainsRune(quoteChars, last) {
		return name
	}
	return strings.Trim(name[n:len(name)-m], "\u00a0\u202f")
}

// announcesEnd reports whether the words announce the end of a program. Some programs never report leaving.
func announcesEnd(words string) bool {
	for _, end := range []string{"build stopped", "no work to do", "error: ", "fatal: "} {
		if strings.HasPrefix(words, end) {
			return true
		}
	}
	return false
}
