; Test workload, other work than in train.lsp: queens, symbolic derivatives, trees, parsing; last argument = rounds.
(define (safe? row column placed)
	(let (ok true d 1)
		(dolist (c placed (not ok))
			(if (or (= c column) (= (abs (- c column)) d)) (setq ok nil))
			(inc d))
		ok))

(define (queens n row placed)
	(if (> row n) 1
		(let (found 0)
			(for (c 1 n)
				(if (safe? row c placed)
					(inc found (queens n (+ row 1) (cons c placed)))))
			found)))

(define (derive e)
	(cond
		((number? e) 0)
		((symbol? e) 1)
		((= (e 0) 'add) (list 'add (derive (e 1)) (derive (e 2))))
		((= (e 0) 'mul) (list 'add (list 'mul (derive (e 1)) (e 2)) (list 'mul (e 1) (derive (e 2)))))))

(define (simplify e)
	(if (not (list? e)) e
		(let (a (simplify (e 1)) b (simplify (e 2)))
			(case (e 0)
				(add (cond ((= a 0) b) ((= b 0) a) (true (list 'add a b))))
				(mul (cond ((or (= a 0) (= b 0)) 0) ((= a 1) b) ((= b 1) a) (true (list 'mul a b))))))))

(define (insert tree v)
	(cond
		((empty? tree) (list v '() '()))
		((< v (tree 0)) (list (tree 0) (insert (tree 1) v) (tree 2)))
		(true (list (tree 0) (tree 1) (insert (tree 2) v)))))

(define (depth tree)
	(if (empty? tree) 0 (+ 1 (max (depth (tree 1)) (depth (tree 2))))))

(define (hanoi n a b c)
	(if (= n 0) 0
		(+ (hanoi (- n 1) a c b) 1 (hanoi (- n 1) c b a))))

(define (evens l) (clean odd? l))

(dotimes (r (int (last (main-args))))
	(println (queens 6 1 '()))
	(let (e '(mul (add x 3) (mul x (add x x))))
		(dotimes (i 3) (setq e (simplify (derive e))))
		(println e))
	(let (tree '() v 17)
		(dotimes (i 120) (setq v (% (+ (* v 37) 11) 1009)) (setq tree (insert tree v)))
		(println (depth tree)))
	(println (hanoi 10 'a 'b 'c))
	(let (fields (map (fn (l) (parse l ";")) (parse (join (map (fn (i) (string i ";" (* i i) ";k" (% i 13))) (sequence 1 150)) "\n") "\n")))
		(println (apply + (map (fn (f) (int (f 1))) fields)) " " (length (unique (map last fields)))))
	(println (apply + (evens (map (fn (i) (length (bits i))) (sequence 1 200)))))
	(println (json-parse (string "{\"a\": [1, 2, {\"b\": " r "}], \"c\": \"d\"}"))))
(exit)
