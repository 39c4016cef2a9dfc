"""Command lines of the older systems: each that their READMEs have either becomes a configuration that the
named command takes, or is refused with a sentence that says why and what to do. Two of each system train.

Usage: command_line_import_test.py PROGRAM
"""
import re
import unittest

from imported_run import CONFIGURATIONS, ImportedRun

PRETRAIN, SQUAD, GLUE = "python3 run_pretraining.py", "python3 run_squad.py", "python3 run_classifier.py"
POPLAR = "POPLAR_ENGINE_OPTIONS='{\"autoReport.all\": \"true\", \"autoReport.directory\": \"./report\"}'"
PHASES = [f"{steps} --init-checkpoint /path/to/checkpoint.ckpt"
          for steps in ("--do-training", "--do-predict", "--do-training --do-predict --do-evaluation")]
TENSORFLOW1 = {
    "pretrain": [
        f"{PRETRAIN} --config configs/pretrain_tiny_128_lamb.json --train-file ./bert_data/sample.tfrecord",
        f"{PRETRAIN} --config configs/pretrain_tiny_128_lamb.json --train-file ./Dataset/sample.tfrecord --wandb",
        f"{PRETRAIN} --config configs/pretrain_large_128_phase1.json",
        f"{PRETRAIN} --config configs/pretrain_large_384_phase2.json --init-checkpoint /path/of/phase1",
        "python3 run_pretraining --config configs/pretrain_tiny_128_lamb.json --sequence-length 384",
        f"POPLAR_LOG_LEVEL=INFO {POPLAR} {PRETRAIN} --config configs/pretrain_tiny_128_lamb.json --compile-only "
        "--generated-data > output.log 2>&1 &",
        f"{POPLAR} {PRETRAIN} --config configs/pretrain_large_128_phase1.json --steps 1 --device-iterations 1 "
        "--gradient-accumulation-count 10",
        f"poprun --num-instances 2 --num-replicas 16 --host a,b {PRETRAIN} "
        "--config configs/pretrain_large_128_phase1_POD64.json"],
    "squad": [*(f"{SQUAD} --config configs/squad_large{version}.json {phases}" for version in ("", "_V2")
                for phases in PHASES),
              f"{SQUAD} --config configs/groupbert/squad/squad_base.json {PHASES[0]}"],
    "glue": [*(f"{GLUE} --config configs/glue_large.json --task-name {task} --data-dir glue_data {phases}"
               for task in ("mrpc", "stsb") for phases in (*PHASES, "--do-evaluation")),
             f"{GLUE} --config configs/groupbert/glue_base.json --task-name sst2 --data-dir glue_data {PHASES[2]}"]}
LAUNCHER = "$PYTHON demo_bert.py"
CARDS = ("", " --dist --world_size 8")
PROGRAM_LINE = ("$PYTHON {name}.py --do_train --bert_model=bert-large-uncased --autocast --config_file=./bert_config.json "
                "--use_habana --json-summary=/tmp/log_directory/dllogger.json --output_dir=/tmp/results/checkpoints {more}")
PHASE1 = ("--allreduce_post_accumulation --allreduce_post_accumulation_fp16 --use_fused_lamb --input_dir=/data/phase1 "
          "--train_batch_size=8192 --max_seq_length=128 --max_predictions_per_seq=20 --max_steps=7038 "
          "--warmup_proportion=0.2843 --num_steps_per_checkpoint=200 --learning_rate=0.006 "
          "--gradient_accumulation_steps=128 --enable_packed_data_mode False --use_torch_compile")
PHASE2 = ("--use_fused_lamb --input_dir=/data/phase2 --train_batch_size=4096 --max_seq_length=512 "
          "--max_predictions_per_seq=80 --max_steps=1563 --warmup_proportion=0.128 --num_steps_per_checkpoint=200 "
          "--learning_rate=0.004 --gradient_accumulation_steps=512 --resume_from_checkpoint --phase1_end_step=7038 "
          "--phase2")
ANSWERS = ("--use_fused_adam --do_lower_case --train_batch_size=24 --predict_batch_size=8 --seed=1 --max_seq_length=384 "
           "--doc_stride=128 --max_steps=-1 --learning_rate=3e-5 --num_train_epochs=2 --init_checkpoint=<path-to-checkpoint> "
           "--vocab_file=<path-to-vocab> --train_file=data/squad/train-v1.1.json --skip_cache --do_predict "
           "--predict_file=data/squad/dev-v1.1.json --do_eval --eval_script=data/squad/evaluate-v1.1.py --log_freq 20")
HABANA = {
    "pretrain": [
        *(f"{LAUNCHER} pretraining --model_name_or_path large --mode {mode} --data_type {kind} --batch_size {batch} "
          f"--accumulate_gradients --allreduce_post_accumulation --allreduce_post_accumulation_fp16{cards} "
          "--data_dir <dataset_path_phase1> <dataset_path_phase2>"
          for mode in ("graph", "lazy") for kind, batch in (("bf16", "64 8"), ("fp32", "32 4")) for cards in CARDS),
        *(launcher + PROGRAM_LINE.format(name="run_pretraining", more=phase) for phase in (PHASE1, PHASE2)
          for launcher in ("", "mpirun -n 8 --bind-to core --map-by socket:PE=6 --allow-run-as-root "))],
    "squad": [
        *(f"{LAUNCHER} finetuning --model_name_or_path {size} --mode {mode} --task_name squad --data_type {kind} "
          f"--num_train_epochs 2 --batch_size {batch} --max_seq_length 384 --learning_rate 3e-5 --do_eval{cards} "
          "--data_dir <dataset_path>/Squad"
          for size, mode in (("base", "eager"), ("large", "graph"), ("large", "lazy"))
          for kind, batch in (("bf16", 24), ("fp32", 10)) for cards in CARDS),
        PROGRAM_LINE.format(name="run_squad", more=ANSWERS),
        "mpirun -n 8 " + PROGRAM_LINE.format(name="run_squad", more=ANSWERS),
        "python run_squad.py --model_type bert --model_name_or_path bert-base-uncased --do_train --save_steps -1 "
        "--train_file train.json --predict_file dev.json --per_gpu_train_batch_size 12"],
    "glue": [f"{LAUNCHER} finetuning --model_name_or_path {size} --mode {mode} --task_name mrpc --data_type fp32 "
             "--num_train_epochs 3 --batch_size 32 --max_seq_length 128 --learning_rate 3e-5 --do_eval "
             "--data_dir <dataset_path>/MRPC"
             for size, mode in (("base", "eager"), ("large", "eager"), ("large", "graph"))]}
OPTIMUM_PHASE = ("python examples/language-modeling/run_pretraining.py --config_name bert-base-uncased "
                 "--tokenizer_name bert-base-uncased --ipu_config_name Graphcore/bert-base-ipu {data} --do_train "
                 "--logging_steps 5 --is_already_preprocessed --dataloader_num_workers 64 "
                 "--dataloader_mode async_rebatched --lamb --lamb_no_bias_correction --pod_type pod16 "
                 "--lr_scheduler_type linear --weight_decay 0.01 --config_overrides \"layer_norm_eps=0.001\" "
                 "--ipu_config_overrides \"device_iterations=1,matmul_proportion=0.22\" --output_dir output ")
OPTIMUM = {
    "pretrain": [
        OPTIMUM_PHASE.format(data="--dataset_name Graphcore/wikipedia-bert-128")
        + "--max_seq_length 128 --max_steps 10500 --per_device_train_batch_size 32 --gradient_accumulation_steps 512 "
        "--learning_rate 0.006 --loss_scaling 16384 --warmup_ratio 0.28",
        OPTIMUM_PHASE.format(data="--model_name_or_path ./phase1 --dataset_path_name Graphcore/wikipedia-bert-512")
        + "--max_seq_length 512 --max_steps 2038 --per_device_train_batch_size 8 --gradient_accumulation_steps 512 "
        "--learning_rate 0.002828 --loss_scaling 128.0 --warmup_ratio 0.128",
        "python run_pretraining.py --config_overrides=\"hidden_size=1024,num_attention_heads=16,num_hidden_layers=24\""],
    "squad": ["python run_qa.py --model_name_or_path bert-base-uncased --ipu_config_name Graphcore/bert-base-ipu "
              "--dataset_name squad --do_train --do_eval --per_device_train_batch_size 12 --learning_rate 3e-5 "
              "--num_train_epochs 2 --max_seq_length 384 --doc_stride 128 --save_steps -1 --output_dir ./output"],
    "glue": ["export TASK_NAME=sst2\n\npython run_glue.py --model_name_or_path bert-base-cased "
             "--ipu_config_name Graphcore/bert-base-ipu --task_name $TASK_NAME --do_train --do_eval "
             "--max_seq_length 128 --per_device_train_batch_size 8 --learning_rate 2e-5 --num_train_epochs 3 "
             "--output_dir ./output/$TASK_NAME/"]}
TENSORFLOW2 = {
    "pretrain": ["python run_pretraining.py --config tests/pretrain_tiny_test.json --dataset-dir data_utils/wikipedia/",
                 "python run_pretraining.py --config configs/pretrain_base_128_phase1.json",
                 "python run_pretraining.py configs/pretrain_large_128_phase1.json --name NAME",
                 "python run_pretraining.py --config configs/pretrain_base_384_phase2.json --pretrained-ckpt-path <CKPT>"],
    "squad": ["python3 run_squad.py configs/squad_base.json", "python3 run_squad.py --config configs/squad_base.json"]}
MLPERF = {
    "pretrain": [*(f"python bert.py --config=./configs/pod{pod}-closed.json" for pod in (16, 64)),
                 *(f"poprun -vv --remove-partition=0 --num-instances {instances} --num-replicas {replicas} "
                   "--ipus-per-replica 8 --mpi-global-args='--tag-output --allow-run-as-root' "
                   f"--mpi-local-args='-x PATH -x LD_LIBRARY_PATH' python bert.py --config=configs/pod{pod}-closed.json"
                   for pod, instances, replicas in ((128, 2, 16), (256, 4, 32)))]}
SYSTEMS = {"": TENSORFLOW1, "habana": HABANA, "optimum": OPTIMUM, "tensorflow2_v2.4.0": TENSORFLOW2, "mlperf": MLPERF}
REFUSED = {
    "python3 run_pretraining.py --help": "prints the options of that program; docs/fidelity/options.md",
    "python3 bert_data/create_pretraining_data.py --input-file a.txt --output-file a.tfrecord": "cloze data records",
    "python3 convert_ckpt.py google2graphcore --vocab_size 30400 /folder/": "cloze convert",
    "python3 /path/to/evaluate-v1.1.py dev.json predictions.json": "cloze score squad",
    "python download_glue_data.py --data_dir glue_data --tasks all": "docs/guides/data.md",
    "python3 run_squad_runtime.py --config configs/squad_base_inference_1ipu.json": "cloze latency",
    "python3 -m examples_utils benchmark --spec benchmarks.yml --benchmark NAME": "cloze benchmark NAME",
    "./scripts/pretrain.sh large": "scripts/reproduce", "./scripts/fine_tune_squad.sh large v1": "scripts/reproduce",
    "./scripts/pretrain_and_finetune_BERT.sh large": "scripts/reproduce",
    "./scripts/fine_tune_glue.sh base mrpc": "scripts/reproduce",
    "./scripts/pretrain_distributed.sh POD64 host a b": "scripts/reproduce",
    "./scripts/fine_tune_GroupBERT_glue.sh base mrpc": "scripts/reproduce",
    "bash create_datasets_from_start.sh wiki_books": "docs/guides/data.md",
    "$PYTHON pack_pretraining_data_pytorch.py --input_dir <a> --output_dir <b>": "cloze pretrain does that",
    "python run_mlm.py --model_name_or_path roberta-base --ipu_config_name Graphcore/roberta-base-ipu --do_train":
        "RoBERTa is another model than BERT",
    "python run_mlm.py --model_name_or_path roberta-large --do_train": "RoBERTa is another model than BERT",
    "python run_clm.py --model_name_or_path gpt2 --do_train": "GPT",
    "python run_xnli.py --model_name_or_path bert-base-multilingual-cased --save_steps -1": "cloze glue",
    "python run_vqa.py --model_name_or_path unc-nlp/lxmert-base-uncased --do_train": "cloze glue",
    "python3 run_squad.py --config configs/none.json": "neither in the current folder nor beside that file"}
TRAINED = {"": [("pretrain", 4), ("pretrain", 6)], "habana": [("pretrain", 0), ("squad", -2)],
           "optimum": [("pretrain", 1), ("squad", 0)], "tensorflow2_v2.4.0": [("pretrain", 0), ("squad", 0)],
           "mlperf": [("pretrain", 0), ("pretrain", 3)]}


class CommandLineTest(ImportedRun):
    def write(self, line):
        path = self.folder / "line.sh"
        path.write_text(line + "\n")
        return path

    def stand_in(self, system):
        """The folder becomes one where that system's command lines are typed."""
        for name, target in (("configs", CONFIGURATIONS / system), ("tests", CONFIGURATIONS / system / "tests")):
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / name).symlink_to(target)

    def test_each_becomes_a_configuration_that_its_command_takes(self):
        for system, commands in SYSTEMS.items():
            self.stand_in(system)
            for command, lines in commands.items():
                for line in lines:
                    with self.subTest(line):
                        report = self.convert(self.write(line))
                        self.assertIn(f", for cloze {command}\n", report)
                        self.assertNotIn(": unknown", report)
                        taken = self.run_program("config", "print", command, "--config", self.ours)
                        self.assertEqual(taken.returncode, 0, taken.stderr)

    def test_two_of_each_system_train(self):
        for system, lines in TRAINED.items():
            self.stand_in(system)
            for command, number in lines:
                line = SYSTEMS[system][command][number]
                with self.subTest(line):
                    self.convert(self.write(line))
                    self.train_two_steps(self.ours)
                    self.train_two_steps(self.write(line))

    def test_the_others_are_refused_with_what_to_do(self):
        for line, message in REFUSED.items():
            with self.subTest(line):
                result = self.run_program("config", "import", self.write(line), "--output-file", self.ours)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)
                self.assertFalse(self.ours.exists())

    def test_a_configuration_that_is_named_is_said(self):
        self.stand_in("")
        report = self.convert(self.write(TENSORFLOW1["squad"][0]))
        self.assertRegex(report, r"  config \"configs/squad_large\.json\": \S+ is read; the command line overrides it\n")

    def test_two_phases_in_one_line_are_said(self):
        line = self.write(HABANA["pretrain"][0])
        report = self.convert(line)
        said = "there this runs two phases, and this is the first; cloze config import --phase 2 writes the second"
        self.assertIn(f"note: {said}", report)
        direct = self.run_program("plan", "--config", line, "--init-checkpoint=")
        self.assertIn(said, re.sub(r"\s+", " ", direct.stderr))
        self.assertNotIn("two phases", self.convert(line, more=["--phase", "2"]))


if __name__ == "__main__":
    unittest.main()
