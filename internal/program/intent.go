package program

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/lazyregexp"
)

// intent is what a sentence or a heading says about the files that it names.
type intent int

const (
	silent intent = iota
	permits
	denies
	unclear // it has a negation, and nobody can tell what it denies
)

// verbs are the changes that a sentence may forbid or allow, as stems.
const verbs = `(?:modif|chang|edit|touch|alter|updat|overwrit|rewrit|delet|remov|renam|patch|adjust|mutat|tamper)`

// adverbs are what may stand between a negation and its verb in English, as in
// "not, under any circumstances, modify"; gap in other languages.
const (
	adverbs = `\s*(?:,[^,.;:!?]{1,60},\s*|(?:ever|be|been|to|directly|even|also|otherwise|manually|in any (?:way|case)|under (?:any|no) circumstances?|at all|or|and|,|(?:add|create|read|move|rename|delete|remove)(?:\s+to)?)[\s,]+)*`
	gap     = `[^.!?;:]{0,40}?`
)

// denyForms are the ways to say that files may not change. What denies wins, so
// they are generous.
var denyForms = compileAll(
	// English
	`(?:\b|_)(?:do|does|must|may|might|should|shall|can|could|will|are|is|be|to|need|ought)[*_]*\s+[*_]*(?:not|never)\b`+adverbs+`(?:\b|_)`+verbs,
	`\b(?:don|doesn|mustn|shouldn|shan|can|couldn|won|mayn|aren|isn|needn)['’]?t\b`+adverbs+`\b`+verbs,
	`\b(?:cannot|never|not|nor)[*_]*\s+[*_]*(?:be[*_]*\s+[*_]*)?(?:\w+ly\s+)?`+verbs,
	`\b(?:not|non|un|in)[- ]?(?:editable|modifiable|writable|writeable|changeable|mutable|touchable|alterable)\b`,
	`\bnot[*_]*\s+(?:\w+\s+){0,2}(?:allowed|permitted|in scope|targets?|yours|available|eligible|part of (?:the|this) (?:target|scope))\b`,
	`\bno\s+(?:\w+\s+){0,3}(?:changes|edits|modifications|change|modification|alterations|updates)\b`,
	`\bnothing\s+(?:\w+\s+){0,3}(?:may|must|should|can|changes)\b`, `\bno\s+(?:\w+\s+){0,3}(?:may|must|should|can|is to|are to)\s+(?:be\s+)?`+verbs,
	`\b(?:nobody|no[- ]one|none|neither|nothing)\b[^.!?;:]{0,60}?\b`+verbs, `\bnot\s+(?:to|for)\s+(?:be\s+)?`+verbs, `\b(?:by no means|(?:in|under) no (?:circumstances?|case|way))\b`,
	`\b(?:aren|isn)['’]?t\s+(?:allowed|permitted)\b`, `\b(?:changes?|edits?|modif\w+|changing|editing|touching)\b[^.!?;:]{0,60}?\b(?:rejected|refused|reverted)\b`, `\b(?:rejected|refused|reverted) if\b`,
	`\b(?:non|anti)[- ]?targets?\b`, `\btargets?\s+(?:to avoid|exclusions?)\b`, `\boff[- ]?(?:limits|bounds)\b`, `\bout[- ]of[- ](?:scope|bounds)\b`, `\b(?:outside|beyond)(?: of)?\s+(?:the\s+|its\s+)?(?:scope|targets?)\b`,
	`\bhands[- ]off\b`, `\bno[- ](?:go|touch|edit|modif|writ)`, `\b(?:keep|stay|steer)\s+(?:\w+\s+){0,2}(?:away|clear|off|out)\b`, `\b(?:reference|context|view|look)[- ]only\b`, `[❌🚫🔒⛔🛑]`,
	`\b(?:forbidden|prohibited|disallowed|untouchable|verboten|sacrosanct|denied|banned)\b`, `\b(?:forbid|prohibit|disallow|deny)[- ]?(?:list|s)?\b`, `\bblock[- ]?list(?:ed)?\b`, `\bblack[- ]?list(?:ed)?\b`,
	`\b(?:leave|keep|left|kept|stay|stays|remain|remains)\b[^.!?;:]{0,60}?\b(?:alone|as[- ]is|as (?:it|they) (?:is|are|was|were)|unchanged|untouched|unmodified|intact|the same|byte[- ]for[- ]byte|identical)\b`,
	`\b(?:avoid|refrain from|without|stop|skip)\s+(?:\w+ing\s+(?:or|and)\s+)?`+verbs,
	`\b(?:is|are|be|as|stays?|remains?|considered|strictly|treat(?:ed)?)\s+(?:\w+\s+)?(?:protected|read[- ]?only|frozen|locked|immutable|fixed|excluded|reserved|ignored|restricted)\b`,
	`\bonly\s+(?:i|we|us|humans?|people|maintainers?|owners?|admins?|the\s+(?:\w+\s+)?(?:team|owners?|maintainers?|authors?))\b`, `\bby\s+(?:hand|humans?|people|maintainers?|us|me|(?:its|the)\s+(?:\w+\s+)?(?:team|owners?|maintainers?|authors?))\b`,
	`\b(?:changes?|edits?|modif\w+|diffs?|changing|editing|touching)\b[^.!?;:]{0,60}?\b(?:lost|overwritten|thrown away|discarded|dropped|undone|wiped|void|disqualif\w*|(?:is|are|counts? as|means?) (?:a |an )?(?:failures?|errors?|loss))\b`,
	`\b(?:none of (?:your|our|its|their) business|no business|no[- ]?no|not (?:for you|yours|your)|(?:belongs?|owned)\s+(?:to|by)\s+(?:another|others?|some\w+|the|our)|black[- ]box|as given|sacred|the way (?:it|they) (?:is|are|was|were)|exactly (?:like (?:this|that)|as (?:it|they)))\b`,
	`\b(?:leave|let)\b[^.!?;:]{0,60}?\bbe\W*$`, `\b(?:pretend|act as if|imagine)\b[^.!?;:]{0,60}?\b(?:not|n['’]t|did not|does not)\b`,
	// Spanish
	`\bno\s+(?:se\s+)?(?:(?:debe|deben|debes|puede|pueden|puedes|hay que|tocar|está permitido)\s+)?(?:ser\s+)?(?:modific|cambi|edit|toqu|toc|alter|borr)`,
	`\b(?:prohibid[oa]s?|intocables?|protegid[oa]s?|solo lectura|sólo lectura|fuera de(?:l)? alcance|excluid[oa]s|bloquead[oa]s?|congelad[oa]s?|inmutables?|intact[oa]s?|no permitid[oa]s?)\b`, `\bsin (?:modificar|cambiar|tocar|cambios)\b`,
	`\b(?:nunca|jamás|ni|evit[ae]r?|ninguna? circunstancia)\s+(?:modifi|cambi|edit|toqu|toc|alter|borr)`,
	`\btal(?:es)? (?:cual|como)\b`, `\bcomo (?:está|están|estaba)\b`, `\bno (?:es|son) (?:tuy[oa]s?|para)\b`, `\ben paz\b`, `\b(?:inalterad|inmodificad)[oa]s?\b`,
	// German
	`\bnicht\b`+gap+`(?:änder|aender|modifizier|bearbeit|anfass|angefasst|anrühr|anzufass|berühr|geändert|geaendert|veränder|verändert|überschreib|lösch)`,
	`(?:änder|bearbeit|modifizier|veränder|fass|rühr)\p{L}*\s+(?:\p{L}+\s+){0,5}(?:nicht|niemals|nie|keinesfalls)\b`, `\bkeine\s+(?:\p{L}+\s+)?änderungen\b`, `\bnie(?:mals)?\s+(?:änder|bearbeit|anfass)`,
	`\b(?:finger|hände) weg\b`, `\b(?:keinen fall|keinen umständen|nie(?:mals)?)\s+(?:ver)?(?:änder|bearbeit|anfass)`, `\bkeine\s+änderung\b`, `\bin ruhe\b`, `\bnur (?:zum )?lese`,
	`\b(?:untersagt|eingefroren|ausgenommen)\b`, `außerhalb des`, `\b(?:verboten|tabu|schreibgeschützt|geschützt|geschützte|gesperrt|unveränder\p{L}*|unangetastet|nur lesen|nur lesbar|ausgeschlossen)\b`,
	`\bnichts?\b`+gap+`\p{L}*(?:zuänder|zubearbeit|rühr|fass|veränder|geänder|bearbeite|verloren)`, `\b(?:unzulässig|unerwünscht|nicht (?:erlaubt|gestattet|zulässig|dazu))`, `\bso,? wie (?:sie|es|er|die|das)\b`, `\bbleib\p{L}*,? wie\b`, `\b(?:die )?finger (?:davon )?lass`,
	// French
	`\b(?:ne|n['’])\s*`+gap+`\b(?:pas|jamais|rien|aucun)\b`+gap+`(?:modifi|chang|édit|edit|touch|altér|alter|supprim)`, `\b(?:ne|n['’])\s*(?:pas\s+)?(?:modifi|chang|édit|edit|touch|altér)\p{L}*\s+(?:pas|jamais|rien|aucun)`,
	`\b(?:interdit|interdite|interdits|interdites|protégée?s?|intouchables?|lecture seule|hors[- ](?:de )?(?:portée|périmètre|limites?|sujet)|exclue?s)\b`, `\baucun(?:e)? (?:modification|changement)`,
	`\b(?:pas|jamais|aucun cas|sans)\s+(?:toucher?|touche|modifi|chang|alt[ée]r)`, `\b(?:interdiction|défense) de\b`, `(?:verrouill|gel)ée?s?`, `\bimmuables?\b`, `\bintacte?s?\b`, `\btels? quels?\b`, `[ée]vite[rz]?\s+de\s+(?:modifi|touch|chang)`,
	`\ben l['’]état`, `\binchangée?s?\b`, `\b(?:interdiction|défense|interdit) d['’]`, `\b(?:telle|tels|telles) quel`, `\btranquilles?\b`,
	// Portuguese
	`\bn[ãa]o\s+(?:se\s+)?(?:(?:deve|devem|pode|podem|é permitido)\s+)?(?:ser\s+)?(?:modifi|alter|edit|mud|toc|mex|toqu|apag)`,
	`\b(?:proibid[oa]s?|protegid[oa]s?|intocáve(?:l|is)|somente leitura|só leitura|apenas leitura|fora d[oe] escopo|excluíd[oa]s)\b`, `\bsem (?:modificar|alterar|mudar|alterações)\b`,
	`\b(?:nunca|jamais|evite|circunstância)\s+(?:modifi|alter|edit|mud|toq|mex)`, `\bnenhuma alteração`, `\b(?:inalterad[oa]s?|intact[oa]s?|bloquead[oa]s?|congelad[oa]s?)\b`, `\bcomo (?:está|estão)\b`,
	`\bem paz\b`, `\bnão (?:é|são) (?:para|seu|sua|teu|tua)`, `\b(?:ficar|permanecer|continuar|manter) (?:igual|iguais|assim|como)\b`,
	// Chinese
	`(?:不要|请勿|切勿|勿|不得|不可|不能|不许|不准|不允许|禁止|严禁|别|無法|不應|不应|請勿)[^。！？；]{0,16}?(?:修改|更改|改动|改動|变更|變更|编辑|編輯|触碰|触及|动|碰|删除|改)`,
	`(?:原状|原狀|现状|現狀|不动|不動|职责|職責|固定|只读|唯讀|受保护|受保護|保护文件|禁区|不在范围|范围之外|不可修改|保持不变|保持原样|锁定|鎖定|冻结|凍結|禁改|排除|仅供参考|不变|不在修改)`,
	// Japanese
	`(?:変更|編集|修正|改変|更新|触|削除|いじ)[^。！？]{0,12}?(?:しない|せず|ないで|禁止|不可|いけ|だめ|ダメ|できません|ません|るな|らない)`,
	`(?:変え|変わ|動か|書き換え|上書き|さわ|手を加え)[^。！？]{0,8}?(?:ない|禁止|不可|るな|らない)`, `(?:手を出|現状|ノータッチ|対象では?な|固定|凍結|ロック|除外|参照のみ|読み込み専用|読み取り専用|読取専用|保護対象|保護された|保護ファイル|対象外|範囲外|触るな|そのまま)`,
)

// labels are words that deny when they stand for themselves: as a heading, a
// line that ends with a colon, or in brackets behind a path.
var labels = lazyregexp.New(`(?i)^\W*(?:(?:all|the|these|following|strictly|fully|other|always)\W+){0,3}(?:protected|protect|read[- ]?only|frozen|locked|immutable|fixed|excluded|exclude|excludes|exclusions|excluding|reserved|restricted|ignored|ignore|untouched|unchanged|non[- ]?targets?|deny|denied|block|blocked|lock|freeze|guarded|safeguarded)\b|^\W*(?:no|not|never|nope|don['’]?t)\W*$`)

// permitForms are the ways to say that files may change.
var permitForms = compileAll(
	`\b(?:may|can|could|should|shall|must|will|free to|allowed to|permitted to|want to|need to|want you to)\s+(?:also\s+|only\s+|freely\s+|be\s+|safely\s+)*`+verbs,
	`^\W*(?:please\s+)?(?:also\s+|only\s+|you\s+|and\s+|then\s+|feel free to\s+)*(?:modify|change|edit|touch|alter|update|overwrite|rewrite|delete|remove|rename|patch|adjust|mutate)\b`,
	`\b(?:only|also|additionally|freely)\s+`+verbs, `\b`+verbs+`\w*\s+(?:only|freely)\b`,
	`\b(?:files|paths|code|sources?|modules|directories|places)\s+(?:that\s+)?(?:to|you may|may|can|you can)\s+(?:be\s+)?`+verbs,
	`\b(?:allowed|permitted|allow[- ]?list(?:ed)?|white[- ]?list(?:ed)?|editable|modifiable|writable|changeable|mutable|in[- ]scope|fair game|free to|open to)\b`,
	`\b(?:targets?|target files)\b`,
	`\b(?:se\s+)?(?:puede|pueden|puedes)\s+(?:ser\s+)?(?:modific|cambi|edit)`, `\bpermitid[oa]s\b`,
	`\b(?:darf|dürfen|darfst|kann|können)\b[^.!?;:]{0,60}?(?:änder|bearbeite|veränder)`, `\berlaubt\b`,
	`\b(?:peut|peuvent|pouvez)\s+(?:être\s+)?(?:modifi|chang)`, `\bautorisé`,
	`\b(?:pode|podem)\s+(?:ser\s+)?(?:modific|alter|edit|mud)`,
	`(?:可以|允许|允許|可|只能|仅)(?:修改|更改|编辑|改)`, `(?:変更|編集|修正)(?:可|して(?:も)?(?:よい|良い|いい)|できます|対象)`,
)

// folded compiles a form for plainWords.
func folded(form string) lazyregexp.Regexp {
	return lazyregexp.New(`(?i)` + accents.Replace(form))
}

func compileAll(forms ...string) []lazyregexp.Regexp {
	list := make([]lazyregexp.Regexp, len(forms))
	for i, form := range forms {
		list[i] = folded(form)
	}
	return list
}

// negations are the words that turn a sentence round, also in ways that denyForms
// do not know. Alone they deny only where they begin what introduces a list.
var negations = folded(`(?:^|[^\pL\pN])(?:not|no|non|never|none|nobody|nothing|neither|nor|cannot|without|except|exclud\w*|avoid\w*|\w+n['’]t|n['’]|` +
	`nunca|jamás|jamais|ni|sin|ningun[oa]?|evit\w+|évite[rz]?|nicht|kein\w*|nie|niemals|ohne|weder|außer|ne|pas|aucune?|sans|rien|não|nao|sem|nem|nenhum\w*|` +
	`(?:only|just)\s+(?:be\s+)?(?:read|view)\w*|read\s+(?:\w+\s+){0,3}only)(?:$|[^\pL\pN])|[不勿禁別未無无非]|(?:^|[^类分区级性])别|ない|ません|ずに|以外|除|るな`)

// politeness is what may stand before the first word that counts.
var politeness = lazyregexp.New(`(?i)^\W*(?:(?:please|also|and|but|always|you|we|files|the files|these)\s+)*`)

// introOf reads what introduces a list, or stands before a path: "Do not reformat:".
// A negation at its beginning denies; elsewhere, and beside words that permit, it
// leaves open what is meant.
func introOf(clause string) intent {
	clause = plainWords(clause)
	by := intentOf(clause)
	if except := exceptForm().FindStringIndex(clause); by == denies && except != nil && strings.Trim(clause[:except[0]], "*- ") != "" {
		return unclear // what follows is what it does not deny
	}
	if neQue().MatchString(clause) {
		return permits
	}
	at := negations().FindStringIndex(clause)
	switch {
	case by == denies || at == nil:
		return by
	case by == permits:
		return unclear
	case clause[at[0]] >= utf8.RuneSelf || len(strings.Fields(clause[len(politeness().FindString(clause)):max(at[0], len(politeness().FindString(clause)))])) < 2:
		return denies
	}
	return unclear
}

// intentOf reads a clause whose code spans are blanked out.
func intentOf(clause string) intent {
	clause = plainWords(clause)
	if clause == "" {
		return silent
	}
	if matchesAny(denyForms, clause) || labels().MatchString(clause) && isLabel(clause) {
		return denies
	}
	if matchesAny(permitForms, clause) {
		return permits
	}
	return silent
}

// isLabel tells "Protected:" and "(read-only)" from a sentence that merely
// begins with such a word.
func isLabel(clause string) bool {
	const most = 8
	return len(strings.Fields(clause)) <= most
}

// plainWords are the words of a clause without emphasis and accents: for a regular
// expression an accented letter belongs to no word.
func plainWords(clause string) string {
	return strings.Join(strings.Fields(accents.Replace(strings.Map(unmarkedRune, clause))), " ")
}

var accents = strings.NewReplacer("á", "a", "à", "a", "â", "a", "ã", "a", "ä", "a", "Á", "A", "À", "A", "Ä", "A", "ç", "c", "Ç", "C", "é", "e", "è", "e", "ê", "e", "ë", "e",
	"É", "E", "È", "E", "Ê", "E", "í", "i", "ì", "i", "î", "i", "ï", "i", "Í", "I", "ñ", "n", "Ñ", "N", "ó", "o", "ò", "o", "ô", "o", "õ", "o", "ö", "o", "Ó", "O", "Ö", "O",
	"ß", "s", "ú", "u", "ù", "u", "û", "u", "ü", "u", "Ú", "U", "Ü", "U")

// unmarkedRune drops emphasis, so that "do *not* modify" reads as it is meant.
func unmarkedRune(r rune) rune {
	if r == '*' || r == '_' || r == '~' {
		return -1
	}
	return r
}

func matchesAny(forms []lazyregexp.Regexp, text string) bool {
	return slices.ContainsFunc(forms, func(form lazyregexp.Regexp) bool { return form().MatchString(text) })
}

// exceptForm announces what a sentence does not speak of, as in "any file other
// than `a.go`"; outsideForm also when nothing was named before it.
var exceptForm = lazyregexp.New(`(?i)\b(?:other\s+than|except(?:ing)?(?:\s+for)?|apart\s+from|aside\s+from|excluding|but\s+not|but\s+for|not\s+including|save\s+for|outside(?:\s+of)?|besides|` +
	`with\s+the\s+exception\s+of|unless|minus|files?\s+save|excepto|salvo|a\s+excepci[oó]n\s+de|con\s+(?:la\s+)?excepci[oó]n\s+de|aparte\s+de|tod[oa]s?\s+menos|` +
	`exceto|com\s+exce[cç][aã]o\s+d[aeo]s?|tudo\s+menos|a\s+n[aã]o\s+ser|sauf|hormis|except[eé]e?s?|a\s+part|a\s+l['’]exception\s+d|` +
	`au(?:ß|s|ss)er|bis\s+auf|mit\s+ausnahme|abgesehen\s+von)(?:\b|\s|$)|à\s+l['’]exception\s+d|à\s+part\s|除了|除|` +
	`\b(?:all|any|every|everything|no)\b[^.;,]{0,80}?\sbut\s+` + "`|" + `\b(?:anything|nothing|everything|all|any\s+\w+|no\s+\w+)\s+but\b`)

// exceptBehind stands behind what a sentence does not speak of.
var exceptBehind = lazyregexp.New(`以外|之外`)

// butNotForm leaves a path out of those that were named before it: "`a.go`, not `b.go`".
var butNotForm = lazyregexp.New(`(?i)\b(?:not|never|without|minus|nicht|ohne|no|sin|pas|sans|não|sem)\s+(?:the\s+|in\s+)?` + "`")

// turnForm is a verb with a negation directly behind a path, in a sentence that
// nobody could tell for a description.
var turnForm = lazyregexp.New("(?i)^[`*_]*\\s*(?:" +
	`(?:is|are|was|should|shall|must|may|might|can|could|will|would|needs?|ought|belongs?|stays?|remains?)\s+(?:[a-z]+\s+){0,3}?(?:not|no|none|never|nobody|nothing)\b` +
	`|(?:is|are|should|must|can|wo|does)n['’]t\b|no\s+(?:es|son|est|debe|deben|puede|pueden|se)\b|(?:debe|deben|puede|pueden|es|son)\s+(?:\pL+\s+){0,3}?(?:no|nunca|jamás)(?:\s|$)` +
	`|(?:ist|sind|darf|dürfen|soll|sollen|gehört|gehören|wird|werden|bleibt|bleiben)\s+(?:\pL+\s+){0,3}?(?:nicht|nie|niemals|nichts|kein\pL*|tabu)(?:\P{L}|$)` +
	`|(?:ne|n['’])\s*\pL+|n[ãa]o\s+\pL+|nunca\s+\pL+|[^。，,；;]{0,12}(?:[不勿禁未]|ない|ません|ずに|ぬ$))`)

// neQue is the French "only": what it has in common with a negation is one word.
var neQue = lazyregexp.New(`(?i)\b(?:ne\s|n['’])\s*\pL+\s+(?:que\b|qu['’])`)
