import time
import torch
from torch import nn
from torch.utils.data import DataLoader
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
vocab_size, emsize, num_class = 60, 12, 3


def make_corpus(n):
    out = []
    for _ in range(n):
        label = int(torch.randint(0, num_class, (1,)))
        text = torch.randint(1 + 15 * label, 30 + 15 * label, (10,))
        out.append((label, text))
    return out


def collate_batch(batch):
    label_list, text_list = [], []
    for (_label, _text) in batch:
        label_list.append(_label)
        text_list.append(_text)
    return torch.tensor(label_list, dtype=torch.int64), pad_sequence(text_list, batch_first=True)


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super(TextClassificationModel, self).__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.gru = nn.GRU(embed_dim, 10, batch_first=True)
        self.fc = nn.Linear(10, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text):
        embedded = self.embedding(text)
        output, hidden = self.gru(embedded)
        return self.fc(hidden[-1])


model = TextClassificationModel(vocab_size, emsize, num_class)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
train_dataloader = DataLoader(make_corpus(180), batch_size=18, shuffle=True, collate_fn=collate_batch)
valid_dataloader = DataLoader(make_corpus(60), batch_size=20, collate_fn=collate_batch)


def train(dataloader):
    model.train()
    total_acc, total_count = 0, 0
    start_time = time.time()
    for idx, (label, text) in enumerate(dataloader):
        optimizer.zero_grad()
        predicted_label = model(text)
        loss = criterion(predicted_label, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total_acc += (predicted_label.argmax(1) == label).sum().item()
        total_count += label.size(0)


def evaluate(dataloader):
    model.eval()
    total_acc, total_count = 0, 0
    with torch.no_grad():
        for idx, (label, text) in enumerate(dataloader):
            predicted_label = model(text)
            total_acc += (predicted_label.argmax(1) == label).sum().item()
            total_count += label.size(0)
    return total_acc / total_count


for epoch in range(1, 6):
    train(train_dataloader)
    print(epoch, evaluate(valid_dataloader))
